// Package gcsstore is the driver of gs:// URLs: Google Cloud Storage.
//
// # Access
//
// The first use of a driver looks for Application Default Credentials: a file
// named by GOOGLE_APPLICATION_CREDENTIALS, what `gcloud auth
// application-default login` left, or the service account of the machine. With
// STORAGE_EMULATOR_HOST set, requests go there without credentials. Until then
// nothing is read or sent.
//
// Reading needs the rights storage.objects.get and storage.objects.list,
// writing storage.objects.create, replacing and removing also
// storage.objects.delete.
//
// # Generations
//
// A generation is that of Cloud Storage. An object that was replaced gives
// objectstore.ErrChanged on the next read, also in buckets without versions.
//
// # Writes
//
// Up to 8 MiB are kept in memory and sent in one request, more is sent in
// pieces of that size; nothing is visible before the last of them. A write
// whose answer was lost is sent again, and its own object then breaks the
// condition it is bound to: each write stores a random text as metadata, by
// which it knows its object. If the tries end without an answer, the object is
// looked at once more. When that fails too, Commit returns the error although
// the object may be there. So it does when another writer has replaced the
// object before it was looked at.
package gcsstore

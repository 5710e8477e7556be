// Package gcsstore is the driver of gs:// URLs: Google Cloud Storage.
//
// # Access
//
// The first use of a driver looks for Application Default Credentials: the file named by
// GOOGLE_APPLICATION_CREDENTIALS, the file of `gcloud auth application-default login`, or
// the service account of the machine. If STORAGE_EMULATOR_HOST is set, requests go there
// without credentials. Before its first use a driver reads and sends nothing.
//
// Reading needs the rights storage.objects.get and storage.objects.list,
// writing storage.objects.create, replacing and removing also
// storage.objects.delete.
//
// # Generations
//
// A generation is the object's generation in Cloud Storage. After an object is replaced,
// the next read returns objectstore.ErrChanged, also in buckets without versions.
//
// # Writes
//
// An object of up to 8 MiB is kept in memory and sent in one request. A larger one is sent
// in pieces of 8 MiB, and becomes visible with the last piece. A write whose answer was
// lost is sent again. The second try then fails on its condition, because the first try
// has made the object. So each write stores a random text as metadata, and recognises its
// own object by it. If no try is answered, Commit looks at the object once more. Commit
// returns an error although the object exists in two cases: this look fails, or another
// writer replaced the object before it.
package gcsstore

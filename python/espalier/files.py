"""Reads files of this machine, and of object stores through Beam's FileSystems."""

from __future__ import annotations

import posixpath


def read(uri: str) -> bytes:
    """Returns the bytes of a file.

    uri is a path, a file:// URL, or a URL of a filesystem that Beam knows, such as gs:// or s3://.
    Raises OSError (FileNotFoundError for paths) if the file cannot be read, and ImportError if the
    URL needs Beam and it is absent.
    """
    scheme, separator, path = uri.partition("://")
    if not separator or scheme == "file":
        with open(path if separator else uri, "rb") as file:
            return file.read()
    try:
        from apache_beam.io.filesystems import FileSystems
    except ImportError as error:
        raise ImportError(f"{uri}: Beam reads URLs: install the extra beam of espalier") from error
    with FileSystems.open(uri) as file:
        return bytes(file.read())


def join(folder: str, name: str) -> str:
    """Returns the URL of a file of a folder; the folder "" is the current one."""
    return f"{folder.rstrip('/')}/{name}" if folder else name


def is_below(name: str) -> bool:
    """Reports whether a name of a document is a relative path of plain parts, as CheckBelow of the Go package naming."""
    plain = posixpath.normpath(name) == name and name not in (".", "..") and not name.startswith(("/", "../"))
    return plain and not set(name) & {"\\", "\0"} and ":/" not in name

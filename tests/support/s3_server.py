"""An S3 server on the loopback, and the objects that tests put there."""

from collections.abc import Iterator
from contextlib import contextmanager

from moto.server import ThreadedMotoServer
from pyarrow import fs

USER = "user:secret"


@contextmanager
def served() -> Iterator[str]:
    one = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    one.start()
    host, port = one.get_host_and_port()
    yield f"{host}:{port}"
    one.stop()


def options_of(address: str) -> str:
    return f"?scheme=http&endpoint_override={address}&region=us-east-1&allow_bucket_creation=true"


def put(address: str, bucket: str, name: str, data: bytes) -> str:
    """Store an object; gives its URI."""
    uri = f"s3://{USER}@{bucket}/{name}{options_of(address)}"
    store, path = fs.FileSystem.from_uri(uri)
    store.create_dir(bucket)
    with store.open_output_stream(path) as out:
        out.write(data)
    return uri

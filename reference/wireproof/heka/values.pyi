# The value classes, for type checkers: python -m tests.support.value_stubs writes them.

from typing import Literal

from attrs import frozen


@frozen
class Field:
    name: bytes
    value_type: Literal['STRING', 'BYTES', 'INTEGER', 'DOUBLE', 'BOOL'] | None
    representation: bytes | None
    value_string: tuple[bytes, ...]
    value_bytes: tuple[bytes, ...]
    value_integer: tuple[int, ...]
    value_double: tuple[bytes, ...]
    value_bool: tuple[bool, ...]

@frozen(kw_only=True)
class Header:
    message_length: int = ...
    hmac_hash_function: Literal['MD5', 'SHA1'] | None
    hmac_signer: bytes | None
    hmac_key_version: int | None
    hmac: bytes | None

@frozen
class Message:
    uuid: bytes
    timestamp: int
    type: bytes | None
    logger: bytes | None
    severity: int | None
    payload: bytes | None
    env_version: bytes | None
    pid: int | None
    hostname: bytes | None
    fields: tuple[Field, ...]

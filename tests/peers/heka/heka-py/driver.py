"""Heka's own Python client behind the adapter contract: its encoder (message, frame, signature) and `decode`.

For Python 2.7, which is all that heka-py runs on. Frames of a u32 length, a JSON header and the bytes
that its "blob" announces, on stdin and stdout.
"""

import json
import os
import site
import sys
from struct import pack, unpack

site.addsitedir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))  # `google` is spread by a .pth

from google.protobuf.message import DecodeError, EncodeError
from heka.encoders import ProtobufEncoder
from heka.message import InvalidMessage, Message

VERSION = "0.30.3"  # the package does not say; requirements.txt pins it
TYPES = ("STRING", "BYTES", "INTEGER", "DOUBLE", "BOOL")
HEADER = ("message_length", "hmac_signer", "hmac_key_version", "hmac")
CLASSES = (
    ("Truncated message", "truncated"),
    ("missing required fields", "missing-field"),
    ("Header is too long", "invalid-value"),
    ("Value out of range", "invalid-value"),
    ("no double", "invalid-value"),
)


class Unsupported(Exception):
    pass


def text(part):
    return (part.encode("utf-8") if isinstance(part, unicode) else part).encode("hex")


SHOW = {  # by protobuf's numbers of types: double, int64, int32, bool, string, message, bytes, enum
    1: lambda part: pack(">d", part).encode("hex"),
    3: str,
    5: str,
    8: bool,
    9: text,
    11: lambda part: shown(part),
    12: text,
    14: lambda part: TYPES[part],
}


def real(bits):
    if len(bits) != 16:
        raise ValueError("no double has %d bytes" % (len(bits) // 2))
    return unpack(">d", bits.decode("hex"))[0]


TAKE = {1: real, 3: int, 5: int, 8: bool, 9: lambda part: part.decode("hex").decode("utf-8"),
        12: lambda part: part.decode("hex"), 14: TYPES.index}


def shown(message):
    fields = {}
    for field in message.DESCRIPTOR.fields:
        show, part = SHOW[field.type], getattr(message, field.name)
        if field.label == field.LABEL_REPEATED:
            fields[field.name] = [show(item) for item in part]
        else:
            fields[field.name] = show(part) if message.HasField(field.name) else None
    return fields


def filled(message, value):
    for field in message.DESCRIPTOR.fields:
        part = value.get(field.name)
        if field.type == field.TYPE_MESSAGE:
            for inner in part or ():
                filled(message.fields.add(), inner)
        elif field.label == field.LABEL_REPEATED:
            getattr(message, field.name).extend(TAKE[field.type](item) for item in part or ())
        elif part is not None:
            setattr(message, field.name, TAKE[field.type](part))
    return message


def signing(header, keys):
    """What the encoder is told to sign with; a header that it does not sign has no field but its length."""
    if all(header.get(name) is None for name in ("hmac_signer", "hmac_key_version", "hmac")):
        return None
    signer = (header["hmac_signer"] or "").decode("hex")
    key = keys.get("%s_%s" % (signer, header["hmac_key_version"]))
    # The encoder writes the signer that it is told, also an empty one: a header without one is not its choice.
    if header["hmac"] is not None or header["hmac_signer"] is None or key is None:
        raise Unsupported("the encoder has no say over " + ("hmac" if header["hmac"] is not None else "hmac_signer"))
    return {"signer": signer, "key_version": int(header["hmac_key_version"]), "key": key.decode("hex"),
            "hash_function": str(header["hmac_hash_function"] or "MD5")}


def encoded(request):
    value, keys = request["value"], request.get("options", {}).get("keys") or {}
    if request["format"] == "heka.message":
        return ProtobufEncoder().msg_to_payload(filled(Message(), value))
    return b"".join(
        ProtobufEncoder(signing(frame["header"], keys)).encode(filled(Message(), frame["message"]))
        for frame in value["frames"]
    )


def answer(request, blob):
    reply = {"id": request["id"], "outcome": "accepted"}
    try:
        if request["op"] == "decode":
            return dict(reply, value=shown(ProtobufEncoder().decode(blob))), None
        return reply, encoded(request)
    except Unsupported as error:
        return dict(reply, outcome="unsupported", text=str(error)), None
    except Exception as error:
        line = ("%s: %s" % (type(error).__name__, error))[:300]
        found = [row[1] for row in CLASSES if row[0] in line]
        typed = isinstance(error, (DecodeError, EncodeError, InvalidMessage)) or found == ["invalid-value"]
        reply.update({"outcome": "refused", "text": line, "class": found[0] if found else "other", "untyped": not typed})
        return reply, None


def hello():
    both = {"ops": ["decode", "encode"], "codecs": ["none"], "profiles": ["reader"]}
    fields = [field.name for field in Message.DESCRIPTOR.fields if field.name != "fields"]
    inner = ["fields[]." + field.name for field in Message.DESCRIPTOR.fields_by_name["fields"].message_type.fields]
    seen = ["frames[].header." + name for name in HEADER] + ["frames[].message." + name for name in fields + inner]
    frames = dict(both, ops=["encode"], features=["hmac"], observes=seen)  # it writes a hash function always
    return {"hello": {"protocol": 1, "name": "heka-py", "version": VERSION, "errors": "coarse", "window": 64,
                      "cost": "fast", "revisions": {"heka.message/0.10": both, "heka.stream/0.10": frames}}}


def main():
    out, sys.stdout = sys.stdout, sys.stderr
    while True:
        length = sys.stdin.read(4)
        if len(length) < 4:
            return
        head = json.loads(sys.stdin.read(unpack(">I", length)[0]))
        reply, blob = (hello(), None) if "hello" in head else answer(head, sys.stdin.read(head.get("blob", 0)))
        if blob is not None:
            reply["blob"] = len(blob)
        header = json.dumps(reply).encode("utf-8")
        out.write(pack(">I", len(header)) + header + (blob or b""))
        out.flush()


if __name__ == "__main__":
    main()

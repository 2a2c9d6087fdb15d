# SPDX-License-Identifier: Apache-2.0
"""Reads protobuf's wire format, for tests that must not share code with what they check."""


def fields(data):
    """(number, wire type, value) of each field of a message: a number, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, kind, varint()
            continue
        size = {1: 8, 5: 4}.get(kind) or varint()
        yield key >> 3, kind, data[at:at + size]
        at += size


def varints(data):
    """The signed numbers of a packed field."""
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value if value < 1 << 63 else value - (1 << 64)
            value = shift = 0

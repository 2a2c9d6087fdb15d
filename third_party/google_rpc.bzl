# SPDX-License-Identifier: Apache-2.0
"""C++ from the google/rpc/*.proto files that the system installs (python3-googleapis-common-protos)."""

_DIR = "/usr/lib/python3/dist-packages"
_NAMES = ["code", "error_details", "status"]

def google_rpc_library(name, visibility):
    """Makes NAME (a cc_library, headers as "google/rpc/status.pb.h") and NAME_protos (empty: the system has the .proto files)."""
    headers = ["google_rpc/google/rpc/%s.pb.h" % n for n in _NAMES]
    sources = ["google_rpc/google/rpc/%s.pb.cc" % n for n in _NAMES]
    native.filegroup(
        name = name + "_protos",
        visibility = visibility,
    )
    native.genrule(
        name = name + "_gen",
        outs = headers + sources,
        cmd = "/usr/bin/protoc -I%s -I/usr/include --cpp_out=$(GENDIR)/third_party/google_rpc %s" % (
            _DIR,
            " ".join(["%s/google/rpc/%s.proto" % (_DIR, n) for n in _NAMES]),
        ),
        local = 1,
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        copts = ["-w"],
        includes = ["google_rpc"],
        visibility = visibility,
        deps = [":protobuf"],
    )

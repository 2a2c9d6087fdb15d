# SPDX-License-Identifier: Apache-2.0
"""halftone_proto_library: C++ from .proto files with the system's protoc.

    halftone_proto_library(
        name = "proto",
        srcs = ["halftone/v1/types.proto", "halftone/v1/service.proto"],
        root = "proto",                     # stripped: imported and included as "halftone/v1/types.proto" / ".pb.h"
        grpc = True,                        # also makes the target proto_grpc, with .grpc.pb.h for every file
        deps = ["//third_party:google_rpc"],
    )

Without `root`, files are imported and included by their path in the workspace: "server/worker/job.proto", "server/worker/job.pb.h".
`deps` are other halftone_proto_library targets. Well-known types (google/protobuf/*.proto) and google/rpc/*.proto are
always found; a target that includes generated headers of the latter depends on //third_party:google_rpc.
Makes NAME (a cc_library of the messages), NAME_grpc (with `grpc`: the services; only gRPC servers and clients depend on it) and
NAME_protos (the .proto files, those of the dependencies included).
"""

# Where Debian's packages put the well-known types and google/rpc.
_SYSTEM_IMPORTS = "-I/usr/include -I/usr/lib/python3/dist-packages"

# Marks generated headers as system headers: our warnings do not apply to them, whatever path they are included by.
_QUIET = "for h in $(OUTS); do case $$h in *.h) sed -i '1i #pragma GCC system_header' $$h;; esac; done"

def halftone_proto_library(name, srcs, deps = [], root = "", grpc = False, visibility = None, testonly = None):
    stems = [src[:-len(".proto")] for src in srcs]
    messages = _generated(stems, ".pb")
    services = _generated(stems, ".grpc.pb") if grpc else struct(headers = [], sources = [])
    out = "$(GENDIR)" + ("/" + root if root else "")

    native.filegroup(
        name = name + "_protos",
        srcs = srcs + [_protos(dep) for dep in deps],
        visibility = visibility,
        testonly = testonly,
    )
    native.genrule(
        name = name + "_gen",
        srcs = srcs,
        tools = [_protos(dep) for dep in deps],  # rebuilds when they change
        outs = messages.headers + messages.sources + services.headers + services.sources,
        cmd = " ".join([
            "/usr/bin/protoc",
            "-I" + (root or "."),
            "-I. $$(test -d proto && echo -Iproto)",
            _SYSTEM_IMPORTS,
            "--cpp_out=" + out,
            "--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin --grpc_out=" + out if grpc else "",
            "$(SRCS)",
            "&&",
            _QUIET,
        ]),
        local = 1,
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        srcs = messages.sources,
        hdrs = messages.headers,
        copts = ["-w"],
        includes = ["."] if root else [],
        deps = deps + ["//third_party:protobuf"],
        visibility = visibility,
        testonly = testonly,
    )
    if grpc:
        native.cc_library(
            name = name + "_grpc",
            srcs = services.sources,
            hdrs = services.headers,
            copts = ["-w"],
            includes = ["."] if root else [],
            deps = [":" + name, "//third_party:grpc"],
            visibility = visibility,
            testonly = testonly,
        )

def _generated(stems, suffix):
    return struct(
        headers = [stem + suffix + ".h" for stem in stems],
        sources = [stem + suffix + ".cc" for stem in stems],
    )

def _protos(dep):
    if ":" in dep:
        return dep + "_protos"
    return dep + ":" + dep.split("/")[-1] + "_protos"

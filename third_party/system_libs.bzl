# SPDX-License-Identifier: Apache-2.0
"""Repository rule: asks pkg-config how to link system libraries that consist of several libraries.

Writes libs.bzl with LINKOPTS, a dictionary from name to link options.
"""

# Name here -> pkg-config modules.
_MODULES = {
    "absl": [
        "absl_absl_check",
        "absl_absl_log",
        "absl_any_invocable",
        "absl_btree",
        "absl_cleanup",
        "absl_cord",
        "absl_crc32c",
        "absl_fixed_array",
        "absl_flags",
        "absl_flags_parse",
        "absl_flags_usage",
        "absl_flat_hash_map",
        "absl_flat_hash_set",
        "absl_hash",
        "absl_inlined_vector",
        "absl_int128",
        "absl_log_globals",
        "absl_log_initialize",
        "absl_log_sink",
        "absl_log_sink_registry",
        "absl_node_hash_map",
        "absl_node_hash_set",
        "absl_random_random",
        "absl_span",
        "absl_status",
        "absl_statusor",
        "absl_str_format",
        "absl_strings",
        "absl_synchronization",
        "absl_time",
    ],
    "grpc": ["grpc++"],
    "prometheus": ["prometheus-cpp-pull", "prometheus-cpp-core"],
}

def _system_libs_impl(ctx):
    pkg_config = ctx.which("pkg-config")
    if not pkg_config:
        fail("pkg-config is missing: build through ./dev, or install the packages in tools/env/packages.sh")
    linkopts = {}
    for name, modules in _MODULES.items():
        result = ctx.execute([pkg_config, "--libs"] + modules)
        if result.return_code != 0:
            fail("%s: build through ./dev, or install the packages in tools/env/packages.sh: %s" % (name, result.stderr))
        libs = {}
        for option in result.stdout.replace("\n", " ").split(" "):
            if option.startswith("-l"):
                libs[option] = None
        linkopts[name] = libs.keys()
    ctx.file("BUILD", "exports_files([\"libs.bzl\"])\n")
    ctx.file("libs.bzl", "LINKOPTS = %s\n" % repr(linkopts))

system_libs = repository_rule(
    implementation = _system_libs_impl,
    local = False,
)

# SPDX-License-Identifier: Apache-2.0
# tools/env/packages.sh: the package lists of the environment. Sourced by `dev`.
#
# Packages come in tiers, each installed on first use. Changing a list makes a new root: its hash is part of the root's name.

SUITE=trixie   # Debian 13: oneDNN and ONNX of older releases are too old

# Build and test.
PACKAGES_BASE=(
  # Build tools.
  g++ pkg-config python3 clang-format
  bazel-bootstrap bazel-rules-java bazel-rules-proto bazel-platforms bazel-skylib
  # RPC and its generators.
  libgrpc++-dev libprotobuf-dev libabsl-dev protobuf-compiler protobuf-compiler-grpc
  # Numbers and formats.
  libdnnl-dev libonnx-dev libzip-dev zlib1g-dev
  # Service.
  prometheus-cpp-dev libsqlite3-dev libssl-dev libxxhash-dev
  # Client.
  libyaml-cpp-dev libcli11-dev nlohmann-json3-dev
  # Tests.
  libgtest-dev libgmock-dev libbenchmark-dev
  python3-numpy python3-protobuf python3-grpcio python3-googleapis-common-protos python3-yaml
  # Called by the demo and the end-to-end tests.
  ca-certificates curl procps util-linux git
)

# Frameworks to compare with, for comparison tests and `dev bench`.
PACKAGES_BENCH=(
  python3-onnx python3-onnxruntime python3-torch python3-torchvision
  python3-sklearn python3-opencv python3-pil
  python3-matplotlib  # `dev bench --plot`
  libonnx-testdata  # ONNX's backend tests, for `dev conformance`
)

# Container images without a Docker engine.
PACKAGES_IMAGE=(buildah debootstrap)

# A second compiler and its checks: `dev build --config=clang`, `dev tidy`.
PACKAGES_CLANG=(clang clang-tidy libomp-dev)

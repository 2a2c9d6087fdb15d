// SPDX-License-Identifier: Apache-2.0
#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/window.h"

namespace halftone::reference {

// Each block of pixels becomes the channels of one: channel (row in block, column in block, channel).
Outputs SpaceToDepth(const Call& call) {
  const Tensor& x = call.in(0);
  const int64_t block = call.attributes().Int("block_size", 0);
  const bool channels_last = IsChannelsLast(call.attributes());
  if (x.rank() != 4 || block < 1 || block > (1 << 15))
    return Error("x is ", x.shape().ToString(), ", block_size ", block);
  const int channel_axis = channels_last ? 3 : 1, height_axis = channels_last ? 1 : 2;
  const Dims& in = x.dims();
  const int64_t batch = in[0], channels = in[channel_axis];
  const int64_t height = in[height_axis] / block, width = in[height_axis + 1] / block;
  if (height * block != in[height_axis] || width * block != in[height_axis + 1])
    return Error("x is ", x.shape().ToString(), ": height or width is no multiple of block_size ", block);
  const Dims strides = RowMajorStrides(in);
  const int64_t stride_h = strides[height_axis], stride_w = strides[height_axis + 1], stride_c = strides[channel_axis];
  const std::vector<int64_t> offsets =
      channels_last ? Offsets({batch, height, width, block, block, channels},
                              {strides[0], block * stride_h, block * stride_w, stride_h, stride_w, stride_c})
                    : Offsets({batch, block, block, channels, height, width},
                              {strides[0], stride_h, stride_w, stride_c, block * stride_h, block * stride_w});
  const Dims dims = channels_last ? Dims{batch, height, width, block * block * channels}
                                  : Dims{batch, block * block * channels, height, width};
  return std::vector<Tensor>{TakeElements(x, dims, offsets)};
}

}  // namespace halftone::reference

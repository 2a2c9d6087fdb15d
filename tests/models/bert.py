# SPDX-License-Identifier: Apache-2.0
"""BERT, written out: embeddings, 12 layers of attention and a feed-forward net with erf gelu, layer norm after each; the pooler.

Inputs as users have them: token ids and an attention mask (1: a token, 0: padding), both int64 [N, T].
"""
import math

import torch
from torch import nn

VOCABULARY = 30522
HIDDEN, HEADS, LAYERS, INNER, MAX_TOKENS = 768, 12, 12, 3072, 512
NORM_EPSILON = 1e-12
MASKED = -10000.0  # added to the scores of padding


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(HIDDEN, HIDDEN) for _ in range(4))

    def heads(self, x):
        return x.view(x.shape[0], x.shape[1], HEADS, HIDDEN // HEADS).transpose(1, 2)

    def forward(self, x, bias):
        query, key, value = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        scores = query @ key.transpose(-1, -2) / math.sqrt(HIDDEN // HEADS) + bias
        mixed = (scores.softmax(-1) @ value).transpose(1, 2)
        return self.out(mixed.reshape(x.shape[0], x.shape[1], HIDDEN))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.inner, self.outer = nn.Linear(HIDDEN, INNER), nn.Linear(INNER, HIDDEN)
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN, NORM_EPSILON), nn.LayerNorm(HIDDEN, NORM_EPSILON)

    def forward(self, x, bias):
        x = self.norm1(x + self.attention(x, bias))
        return self.norm2(x + self.outer(nn.functional.gelu(self.inner(x))))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(VOCABULARY, HIDDEN), nn.Embedding(MAX_TOKENS, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, NORM_EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.pooler = nn.Linear(HIDDEN, HIDDEN)

    def forward(self, input_ids, attention_mask):
        bias = (1.0 - attention_mask[:, None, None, :].to(torch.float32)) * MASKED
        x = self.words(input_ids) + self.positions(torch.arange(input_ids.shape[1]))
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, bias)
        return x, torch.tanh(self.pooler(x[:, 0]))

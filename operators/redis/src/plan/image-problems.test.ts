import assert from 'node:assert/strict';
import { test } from 'node:test';
import { productOfImage } from './image-problems.ts';

test('what is in an image is told by the last part of its name, whosever place it lies in', () => {
  const products = {
    'valkey:9.1': 'valkey',
    'redis@sha256:00': 'redis',
    'valkey/valkey:8.1': 'valkey',
    'mirror.example:5000/redis/valkey:9': 'valkey',
    'redis-team/valkey': 'valkey',
    'mirror.example/library/redis:7.0.15-alpine': 'redis',
    'redis-stack:7': undefined,
    'redis/other:7': undefined,
  };
  for (const [image, product] of Object.entries(products)) assert.equal(productOfImage(image), product, image);
});

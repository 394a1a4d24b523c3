import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectOf } from '../kubernetes/objects.ts';
import { withRevision } from './etcd.ts';

test('another revision is all that changes, and a status keeps its own', () => {
  const { spec, ...rest } = objectOf('widgets', 7) as { readonly spec: { readonly revision: number } };
  const status = { phase: 'Ready', revision: spec.revision };
  const stored = Buffer.from(JSON.stringify({ ...rest, spec, status }));
  const changed = withRevision('widgets', stored, 42);
  assert.equal(changed.length, stored.length);
  assert.deepEqual(JSON.parse(changed.toString()), {
    ...rest,
    spec: { ...spec, revision: spec.revision + 42 },
    status,
  });
});

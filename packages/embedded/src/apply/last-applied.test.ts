import type { JsonObject } from '../object/draft.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '../cases/thing-testing.ts';
import { ownersOf } from '../cases/world-testing.ts';
import { builtinTypes } from '../types/builtin.ts';
import type { KindTypes } from '../types/kind-types.ts';
import { asMap } from '../types/type.ts';
import { applyPatch } from './apply.ts';
import { trackUpdate } from './track.ts';

const types = builtinTypes('v1', 'ConfigMap') as KindTypes;
const key = 'kubectl.kubernetes.io/last-applied-configuration';

/** As kubectl apply without --server-side leaves it. */
function clientSide(data: JsonObject, last: JsonObject): JsonObject {
  const after = configMap({ data, metadata: { annotations: { [key]: JSON.stringify(configMap({ data: last })) } } });
  return { ...trackUpdate({ types, after, manager: 'kubectl-client-side-apply', now: 0 }) };
}

test('kubectl takes over what it applied last, without force', () => {
  const live = clientSide({ x: '1' }, { x: '1' });
  const result = applyPatch({ types, live, applied: configMap({ data: { x: '2' } }), manager: 'kubectl', now: 0 });
  assert.ok('object' in result, JSON.stringify(result));
  assert.deepEqual(result.object['data'], { x: '2' });
  assert.deepEqual(ownersOf(result.object)['kubectl Apply'], ['.data.x']);
});

test('the annotation follows, in the server’s form', () => {
  const live = clientSide({ x: '1' }, { x: '1' });
  const result = applyPatch({ types, live, applied: configMap({ data: { x: '2' } }), manager: 'kubectl', now: 0 });
  assert.ok('object' in result);
  assert.equal(
    asMap(asMap(result.object['metadata'])?.['annotations'])?.[key],
    '{"apiVersion":"v1","data":{"x":"2"},"kind":"ConfigMap","metadata":{"name":"one","namespace":"default"}}\n',
  );
});

test('what somebody else changed since then conflicts, and other managers do not take over', () => {
  const live = clientSide({ x: 'changed' }, { x: '1' });
  const request = { types, live, applied: configMap({ data: { x: '2' } }), now: 0 };
  for (const manager of ['kubectl', 'other']) {
    const result = applyPatch({ ...request, manager });
    assert.ok('status' in result && result.status.code === 409);
    assert.match(result.status.message ?? '', /conflict with "kubectl-client-side-apply" using v1: .data.x/);
  }
  const fresh = applyPatch({ ...request, live: clientSide({ x: '1' }, { x: '1' }), manager: 'other' });
  assert.ok('status' in fresh);
});

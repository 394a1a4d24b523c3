import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiKind, ApiModel, type ApiObject, type ApiResponse, ApiServer, immediately, Refusal } from './index.ts';

const things: ApiKind = {
  group: 'test.dev',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
  judge: ({ spec }) => ((spec as { size?: number } | undefined)?.size === -1 ? 'spec.size: too small' : undefined),
};
const PATH = '/apis/test.dev/v1/namespaces/ns/things';

function setUp() {
  let now = Date.UTC(2030, 0, 1, 0, 0, 0, 700);
  const model = new ApiModel([things], () => now);
  let isBusy = false;
  const server = new ApiServer(model, {
    admit: () => {
      if (isBusy) throw new Refusal(429, 'TooManyRequests', 'later');
    },
  });
  const transport = server.transport(immediately(model));
  const call = async (method: string, path: string, body?: object) => {
    const answer = await transport({ method, path, ...(body && { body: JSON.stringify(body) }) });
    return { ...answer, object: JSON.parse(Buffer.from(answer.body as Uint8Array).toString()) as ApiObject };
  };
  const create = (name: string, more: object = {}) =>
    call('POST', PATH, { metadata: { name }, spec: { size: 1 }, ...more });
  return {
    model,
    server,
    transport,
    call,
    create,
    busy: (value: boolean) => {
      isBusy = value;
    },
    pass: (ms: number) => {
      now += ms;
    },
  };
}

/** The next chunk of a stream, as events. */
async function reader(answer: ApiResponse) {
  const stream = (answer.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = (await stream.next()) as { value?: Uint8Array; done?: boolean };
    if (done || !value) return 'over';
    const lines = Buffer.from(value).toString().trim().split('\n');
    const events = lines.map((line) => JSON.parse(line) as { type: string; object: ApiObject & { code?: number } });
    return events.map(({ type, object }) => `${type} ${object.code ?? object.metadata.name ?? ''}`.trim()).join(', ');
  };
}

test('objects get uid, version, generation and whole seconds; a status is written apart', async () => {
  const { call, create } = setUp();
  const { object } = await create('a', { status: { ok: true } });
  assert.deepEqual(object.metadata, {
    name: 'a',
    namespace: 'ns',
    uid: 'uid-0001',
    generation: 1,
    creationTimestamp: '2030-01-01T00:00:00Z',
    resourceVersion: '101',
  });
  assert.equal(object.status, undefined);
  const told = await call('PUT', `${PATH}/a/status`, { ...object, spec: { size: 9 }, status: { ok: true } });
  assert.deepEqual(told.object.status, { ok: true });
  assert.deepEqual(told.object.spec, { size: 1 });
  const resized = await call('PUT', `${PATH}/a`, { ...told.object, spec: { size: 2 }, status: { ok: false } });
  assert.equal(resized.object.metadata.generation, 2);
  assert.deepEqual(resized.object.status, { ok: true });
  const same = await call('PUT', `${PATH}/a`, resized.object);
  assert.equal(same.object.metadata.resourceVersion, resized.object.metadata.resourceVersion, 'nothing was changed');
});

test('it refuses as the real one does', async () => {
  const { call, create, busy } = setUp();
  const { object } = await create('a');
  const statusOf = async (method: string, path: string, body?: object) => (await call(method, path, body)).status;
  assert.equal(await statusOf('GET', `${PATH}/b`), 404);
  assert.equal(await statusOf('GET', '/apis/test.dev/v1/others'), 404);
  assert.equal(await statusOf('POST', PATH, { metadata: { name: 'a' } }), 409);
  assert.equal(await statusOf('POST', PATH, { metadata: { name: 'c' }, spec: { size: -1 } }), 422);
  assert.equal(await statusOf('PUT', `${PATH}/a`, { metadata: { name: 'a' } }), 422);
  await call('PUT', `${PATH}/a`, { ...object, spec: { size: 2 } });
  assert.equal(await statusOf('PUT', `${PATH}/a`, { ...object, spec: { size: 3 } }), 409);
  assert.equal(await statusOf('DELETE', `${PATH}/a`, { preconditions: { uid: 'another' } }), 409);
  assert.equal(await statusOf('PATCH', `${PATH}/a`, {}), 405);
  busy(true);
  const later = await call('GET', PATH);
  assert.deepEqual([later.status, later.headers['retry-after']], [429, '1']);
});

test('an object with finalizers stays until the last is gone, and gets no new ones', async () => {
  const { call, create, model } = setUp();
  await create('a', { metadata: { name: 'a', finalizers: ['x', 'y'] } });
  const { object } = await call('DELETE', `${PATH}/a`, {});
  assert.ok(object.metadata.deletionTimestamp);
  const { metadata } = object;
  const more = { ...object, metadata: { ...metadata, finalizers: ['x', 'y', 'z'] } };
  assert.equal((await call('PUT', `${PATH}/a`, more)).status, 422);
  const one = await call('PUT', `${PATH}/a`, { ...object, metadata: { ...metadata, finalizers: ['y'] } });
  assert.ok(model.find('things', 'ns/a'));
  await call('PUT', `${PATH}/a`, { ...one.object, metadata: { ...one.object.metadata, finalizers: [] } });
  assert.equal(model.find('things', 'ns/a'), undefined);
});

test('a watch tells what happened after its version, once more if replayed, and 410 if that is no longer kept', async () => {
  const { call, create, transport, server, model } = setUp();
  const { object } = await create('a');
  const watch = (query: string) => transport({ method: 'GET', path: `${PATH}?watch=true&${query}` });
  const next = await reader(await watch(`resourceVersion=${object.metadata.resourceVersion}`));
  const streaming = await reader(await watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan'));
  const narrow = await reader(await watch(`resourceVersion=100&fieldSelector=metadata.name%3Da`));
  await create('b');
  await call('DELETE', `${PATH}/a`);
  assert.equal(await next(), 'ADDED b, DELETED a');
  assert.equal(await streaming(), 'ADDED a, BOOKMARK, ADDED b, DELETED a');
  assert.equal(await narrow(), 'ADDED a, DELETED a');
  server.replay(1);
  assert.equal(await next(), 'DELETED a');
  await create('c');
  model.compact();
  assert.equal(await next(), 'ERROR 410');
  assert.equal(await (await reader(await watch('resourceVersion=100')))(), 'ERROR 410');
  assert.equal(server.openStreams, 4);
  server.cutStreams();
  assert.equal(await narrow(), 'over');
});

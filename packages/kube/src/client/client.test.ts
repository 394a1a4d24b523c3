import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeError } from '../errors/errors.ts';
import type { KubeObject } from '../object/object.ts';
import { metadataOnly, resource } from '../object/resource.ts';
import { testPorts } from '../ports/testing.ts';
import { KubeClient } from './client.ts';
import { type Answer, type Exchange, failureBody, scripted } from './server-testing.ts';

interface Widget extends KubeObject {
  readonly spec?: { readonly size?: number | bigint };
}
const widgets = resource<Widget>({
  group: 'example.dev',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
});
const stored = { metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '7' } };

function clientOf(answer: (exchange: Exchange, count: number) => Answer | Promise<Answer>) {
  const ports = testPorts();
  const { transport, seen } = scripted(answer);
  return { ports, seen, widgets: new KubeClient({ ...ports, transport }).resource(widgets, 'n'), transport };
}

const BASE = '/apis/example.dev/v1/namespaces/n/widgets';

test('every verb is the request that Kubernetes knows', async () => {
  const { widgets: client, seen } = clientOf(() => ({ body: stored }));
  const object = { metadata: { name: 'a', resourceVersion: '7', managedFields: [{}] }, spec: { size: 3 } };
  await client.get('a', { resourceVersion: '0' });
  await client.create(object, { dryRun: true });
  await client.update(object, { subresource: 'status' });
  await client.patch('a', { type: 'json', value: [{ op: 'remove', path: '/spec' }] });
  await client.patch('a', { type: 'merge', value: { spec: null } }, { fieldManager: 'me' });
  await client.patch('a', { type: 'strategic', value: {} }, { fieldValidation: 'Ignore' });
  await client.apply({ metadata: { name: 'a' }, spec: { size: 4 } }, { force: true, subresource: 'status' });
  await client.scale('a');
  await client.setScale('a', 5);
  await client.post('a', 'token', { kind: 'TokenRequest' }, { dryRun: true });
  await client.delete('a', { uid: 'u', resourceVersion: '7', propagationPolicy: 'Foreground', gracePeriodSeconds: 0 });
  await client.delete('a', { dryRun: true });
  await client.deleteCollection({ labelSelector: { app: 'x', tier: 'y' }, fieldSelector: 'metadata.name!=b' });

  const write = { fieldManager: 'reeve', fieldValidation: 'Strict' };
  const body = {
    apiVersion: 'example.dev/v1',
    kind: 'Widget',
    metadata: { name: 'a', resourceVersion: '7' },
    spec: { size: 3 },
  };
  const options = { apiVersion: 'v1', kind: 'DeleteOptions' };
  const summary = seen.map(({ method, path, query, headers, body: sent }) => [
    method,
    path.slice(BASE.length),
    query,
    String(headers?.['content-type'] ?? '').replace('application/', ''),
    sent,
  ]);
  assert.deepEqual(summary, [
    ['GET', '/a', { resourceVersion: '0' }, '', undefined],
    ['POST', '', { ...write, dryRun: 'All' }, 'json', body],
    ['PUT', '/a/status', write, 'json', body],
    ['PATCH', '/a', write, 'json-patch+json', [{ op: 'remove', path: '/spec' }]],
    ['PATCH', '/a', { ...write, fieldManager: 'me' }, 'merge-patch+json', { spec: null }],
    ['PATCH', '/a', { ...write, fieldValidation: 'Ignore' }, 'strategic-merge-patch+json', {}],
    [
      'PATCH',
      '/a/status',
      { ...write, force: 'true' },
      'apply-patch+yaml',
      { ...body, metadata: { name: 'a' }, spec: { size: 4 } },
    ],
    ['GET', '/a/scale', {}, '', undefined],
    ['PATCH', '/a/scale', write, 'merge-patch+json', { spec: { replicas: 5 } }],
    ['POST', '/a/token', { ...write, dryRun: 'All' }, 'json', { kind: 'TokenRequest' }],
    [
      'DELETE',
      '/a',
      {},
      'json',
      {
        ...options,
        propagationPolicy: 'Foreground',
        gracePeriodSeconds: 0,
        preconditions: { uid: 'u', resourceVersion: '7' },
      },
    ],
    ['DELETE', '/a', {}, 'json', { ...options, dryRun: ['All'] }],
    ['DELETE', '', { labelSelector: 'app=x,tier=y', fieldSelector: 'metadata.name!=b' }, 'json', options],
  ]);
});

test('int64 values survive reading and writing', async () => {
  const bodies: string[] = [];
  const client = new KubeClient({
    ...testPorts(),
    transport: async ({ body }) => {
      if (body !== undefined) bodies.push(body);
      const text = '{"metadata":{"name":"a","uid":"u","resourceVersion":"7"},"spec":{"size":9223372036854775807}}';
      return { status: 200, headers: {}, body: Buffer.from(text) };
    },
  }).resource(widgets, 'n');
  const object = await client.get('a');
  assert.equal(object.spec?.size, 9223372036854775807n);
  await client.update(object);
  assert.match(bodies[0] ?? '', /"size":9223372036854775807\}/);
});

test('a namespaced object needs its namespace', () => {
  const { transport } = scripted(() => ({}));
  const all = new KubeClient({ ...testPorts(), transport }).resource(widgets);
  assert.throws(() => all.get('a'), /live in namespaces/);
});

const failures: readonly [status: number, reason: string, code: string][] = [
  [400, 'BadRequest', 'KUBE_INVALID'],
  [401, 'Unauthorized', 'KUBE_UNAUTHORIZED'],
  [403, 'Forbidden', 'KUBE_FORBIDDEN'],
  [404, 'NotFound', 'KUBE_NOT_FOUND'],
  [405, 'MethodNotAllowed', 'KUBE_REFUSED'],
  [409, 'AlreadyExists', 'KUBE_ALREADY_EXISTS'],
  [409, 'Conflict', 'KUBE_CONFLICT'],
  [410, 'Expired', 'KUBE_GONE'],
  [422, 'Invalid', 'KUBE_INVALID'],
  [500, 'InternalError', 'KUBE_SERVER_ERROR'],
];
for (const [status, reason, code] of failures) {
  test(`a ${status} ${reason} is ${code} and carries the Status`, async () => {
    const { widgets: client } = clientOf(() => ({
      status,
      body: failureBody(status, reason, { details: { name: 'a' } }),
    }));
    await assert.rejects(client.get('a'), (error: KubeError) => {
      assert.equal(error.code, code);
      assert.equal(error.message, `GET ${BASE}/a: the server says ${reason}`);
      assert.deepEqual([error.status?.code, error.status?.reason, error.status?.details?.name], [status, reason, 'a']);
      return true;
    });
  });
}

test('an applied object that does not fit its schema is invalid, although the server calls that its own failure', async () => {
  const message = 'failed to create typed patch object (/a; /v1, Kind=ConfigMap): .datta: field not declared in schema';
  const answer = (more: object) => () => ({ status: 500, body: failureBody(500, 'x', { message, ...more }) });
  const object = { metadata: { name: 'a' } };
  await assert.rejects(clientOf(answer({ reason: undefined })).widgets.apply(object), { code: 'KUBE_INVALID' });
  for (const other of [{ reason: 'InternalError' }, { reason: undefined, message: 'something else' }]) {
    await assert.rejects(clientOf(answer(other)).widgets.apply(object), { code: 'KUBE_SERVER_ERROR' });
  }
});

test('an answer that is no Status is an error with its beginning', async () => {
  const { widgets: client } = clientOf(() => ({ status: 502, body: `<html>${'x'.repeat(1000)}` }));
  await assert.rejects(client.get('a'), (error: KubeError) => {
    assert.equal(error.code, 'KUBE_SERVER_ERROR');
    assert.ok(error.message.includes('<html>xxx') && error.message.length < 400);
    return true;
  });
  const odd = clientOf(() => ({ body: '"hello"' }));
  await assert.rejects(odd.widgets.get('a'), { code: 'KUBE_JSON' });
  await assert.rejects(odd.widgets.list(), { code: 'KUBE_JSON' });
});

test('a version the server has not seen yet is told from a timeout', async () => {
  const details = { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 };
  const { widgets: client } = clientOf(() => ({ status: 504, body: failureBody(504, 'Timeout', { details }) }));
  const watching = client.watch({ resourceVersion: '99' }).next();
  await assert.rejects(watching, { code: 'KUBE_VERSION_TOO_LARGE', retryAfterMs: 1000 });
});

test('find tells absent from unknown', async () => {
  const { widgets: client } = clientOf(({ path }) =>
    path.endsWith('/a')
      ? { status: 404, body: failureBody(404, 'NotFound') }
      : { status: 500, body: failureBody(500, 'X') },
  );
  assert.equal(await client.find('a'), undefined);
  await assert.rejects(client.find('b'), { code: 'KUBE_SERVER_ERROR' });
});

test('a busy server is asked again when it said, a bounded number of times', async () => {
  const busy = { status: 429, headers: { 'retry-after': '2' }, body: failureBody(429, 'TooManyRequests') };
  const first = clientOf((_exchange, count) => (count < 3 ? busy : { body: stored }));
  const created = first.widgets.create({ metadata: { name: 'a' } });
  await first.ports.advance(0);
  await first.ports.advance(2_499);
  assert.equal(first.seen.length, 1, 'not before its time');
  await first.ports.advance(1);
  assert.equal(first.seen.length, 2);
  await first.ports.advance(2_500);
  assert.equal((await created).metadata.uid, 'u');

  const second = clientOf(() => busy);
  const refused = second.widgets.get('a');
  refused.catch(() => undefined);
  for (let i = 0; i < 10; i++) await second.ports.advance(2_500);
  await assert.rejects(refused, { code: 'KUBE_TOO_MANY_REQUESTS', retryAfterMs: 2000 });
  assert.equal(second.seen.length, 6);
});

test('a server that asks for much time is given it, and refused at once if the call has not that much', async () => {
  const busy = (seconds: number) => ({
    status: 429,
    headers: { 'retry-after': `${seconds}` },
    body: failureBody(429, 'TooManyRequests'),
  });
  const patient = clientOf((_exchange, count) => (count === 1 ? busy(40) : { body: stored }));
  const read = patient.widgets.get('a');
  await patient.ports.advance(0);
  await patient.ports.advance(39_999);
  assert.equal(patient.seen.length, 1, 'not before its time');
  await patient.ports.advance(10_000);
  assert.equal((await read).metadata.name, 'a');
  for (const seconds of [60, 3_600]) {
    const hurried = clientOf(() => busy(seconds));
    await assert.rejects(hurried.widgets.get('a'), { code: 'KUBE_TOO_MANY_REQUESTS', retryAfterMs: seconds * 1_000 });
    assert.equal(hurried.seen.length, 1);
  }
});

test('a write is not repeated when it may have happened, a read only when the server asks for it', async () => {
  const ill = { status: 503, headers: { 'retry-after': '1' }, body: failureBody(503, 'ServiceUnavailable') };
  const writing = clientOf(() => ill);
  await assert.rejects(writing.widgets.create({ metadata: { name: 'a' } }), { code: 'KUBE_SERVER_ERROR' });
  assert.equal(writing.seen.length, 1);
  const reading = clientOf((_exchange, count) => (count === 1 ? ill : { body: stored }));
  const read = reading.widgets.get('a');
  await reading.ports.advance(0);
  await reading.ports.advance(1_250);
  assert.equal((await read).metadata.name, 'a');
});

test('a call ends at its time limit or with its signal, also while it waits for another try', async () => {
  const never = clientOf(
    ({ signal }) =>
      new Promise<Answer>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  );
  const late = never.widgets.get('a');
  late.catch(() => undefined);
  await never.ports.advance(60_000);
  await assert.rejects(late, { code: 'KUBE_TIMEOUT', subjects: [`GET ${BASE}/a`] });

  const controller = new AbortController();
  const busy = clientOf(() => ({ status: 429, body: failureBody(429, 'TooManyRequests') }));
  const waiting = busy.widgets.get('a', { signal: controller.signal });
  await busy.ports.advance(0);
  controller.abort(new Error('enough'));
  await assert.rejects(waiting, { message: 'enough' });
});

test('metadata alone are asked for in the form for one, for many and for events', async () => {
  const { transport, seen } = scripted(({ query }) => ({ body: query.watch ? '' : { ...stored, items: [] } }));
  const client = new KubeClient({ ...testPorts(), transport }).resource(metadataOnly(widgets), 'n');
  await client.get('a');
  await client.list();
  for await (const _event of client.watch());
  const one = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  assert.deepEqual(
    seen.map(({ headers }) => headers?.accept),
    [one, one.replace('Metadata;', 'MetadataList;'), one],
  );
});

test('an answer of any kind is read as it comes, and a refusal is an error', async () => {
  const pieces = ['one\n', 'two\n'];
  const { transport, seen } = clientOf(({ path }) =>
    path.endsWith('/log')
      ? {
          body: (async function* () {
            for (const piece of pieces) yield Buffer.from(piece);
          })(),
        }
      : { status: 404, body: failureBody(404, 'NotFound') },
  );
  const client = new KubeClient({ ...testPorts(), transport });
  using streamed = await client.stream('/api/v1/namespaces/n/pods/p/log?follow=true');
  const read: string[] = [];
  for await (const chunk of streamed.chunks) read.push(Buffer.from(chunk).toString());
  assert.deepEqual(read, pieces);
  assert.deepEqual([seen[0]?.method, seen[0]?.query, seen[0]?.headers?.accept], ['GET', { follow: 'true' }, '*/*']);
  await assert.rejects(client.stream('/other', { method: 'POST' }), { code: 'KUBE_NOT_FOUND' });
  assert.equal(seen[1]?.method, 'POST');
});

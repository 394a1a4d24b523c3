/** `reeve apply`, `reeve delete` and `reeve logs` on an API in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TransportRequest } from '@reeve/kube';
import { ApiHarness, map } from './api.ts';

test('a Secret as `kubectl create secret --dry-run=client -o yaml` prints it is applied, as docs/adopt-redis.md tells', async (t) => {
  const api = await ApiHarness.open(t);
  const input = `apiVersion: v1
data:
  ca.crt: eAo=
kind: Secret
metadata:
  creationTimestamp: null
  name: cache-access-tls
`;
  const ran = await api.run('apply -f -', { input });
  assert.deepEqual([ran.code, ran.out], [0, 'secret/cache-access-tls created\n'], ran.err);
});

test('Ctrl-C ends the waiting for stdin, of whoever reads it', async (t) => {
  for (const line of ['apply -f -', 'delete -f -', 'plan -f -']) {
    const api = await ApiHarness.open(t);
    let stop = () => undefined as void;
    const input = (async function* () {
      stop();
      yield await new Promise<Buffer>(() => undefined);
    })();
    const ran = await api.run(line, { input, interrupt: (send) => (stop = send) });
    assert.deepEqual([ran.code, ran.out, ran.err], [130, '', 'reeve: stopped by Ctrl-C\n'], line);
  }
});

test('what is applied is created, changed, or left as it is', async (t) => {
  const api = await ApiHarness.open(t);
  const apply = async (data: object, more = '') =>
    (await api.withFile(`apply -f FILE ${more}`, map('m', { data }))).out;
  assert.equal(await apply({ a: '1' }, '--dry-run'), 'configmap/m would be created\n');
  assert.equal(await api.maps().find('m'), undefined);
  assert.equal(await apply({ a: '1' }), 'configmap/m created\n');
  assert.equal(await apply({ a: '1' }), 'configmap/m unchanged\n');
  assert.equal(await apply({ a: '1' }, '--dry-run'), 'configmap/m unchanged\n');
  assert.equal(await apply({ b: '2' }, '--dry-run'), 'configmap/m would be changed\n');
  assert.equal(await apply({ b: '2' }), 'configmap/m changed\n');
  const found = await api.maps().get('m');
  assert.deepEqual(found.data, { b: '2' }, 'what is no longer in the file is gone');
  assert.equal(found.metadata.managedFields?.[0]?.manager, 'reeve');
  assert.match(await apply({ b: '2' }, '-o yaml'), /^apiVersion: v1\nkind: ConfigMap\n/);
});

test('fields of others are told with their owner, and taken over by --force only', async (t) => {
  const api = await ApiHarness.open(t);
  await api.maps().apply(map('m', { data: { a: 'theirs', c: 'theirs' } }), { fieldManager: 'other' });
  const mine = map('m', { data: { a: 'mine', b: 'mine' } });
  const refused = await api.withFile('apply -f FILE', mine);
  assert.equal(refused.code, 1);
  assert.match(
    refused.err,
    /configmap\/m has fields of others:\n {2}\.data\.a: of "other".* \[APPLY_CONFLICT\]\n +→ .*--force/,
  );
  assert.deepEqual((await api.maps().get('m')).data, { a: 'theirs', c: 'theirs' });
  assert.equal((await api.withFile('apply -f FILE --force', mine)).out, 'configmap/m changed\n');
  assert.deepEqual((await api.maps().get('m')).data, { a: 'mine', b: 'mine', c: 'theirs' });
});

test('of several documents each is told; one that fails does not stop the others', async (t) => {
  const api = await ApiHarness.open(t);
  const bad = map('bad', { dat: { a: '1' } });
  const unknown = { apiVersion: 'nowhere.dev/v1', kind: 'Nothing', metadata: { name: 'n' } };
  const text = [map('one'), bad, unknown, map('two')].map((one) => JSON.stringify(one)).join('\n---\n');
  const ran = await api.run('apply -f -', { input: text });
  assert.equal(ran.code, 1);
  assert.equal(ran.out, 'configmap/one created\nconfigmap/two created\n');
  assert.match(ran.err, /dat.*\[KUBE_INVALID\]/);
  assert.match(ran.err, /there is no kind Nothing in nowhere\.dev\/v1 \[KIND_UNKNOWN\]/);
});

test('files that are wrong change nothing', async (t) => {
  const api = await ApiHarness.open(t);
  const text = `${JSON.stringify(map('fine'))}\n---\nkind: ConfigMap`;
  const ran = await api.run('apply -f -', { input: text });
  assert.equal(ran.code, 2);
  assert.match(ran.err, /stdin, document 2: has no apiVersion \[MANIFEST_INVALID\]/);
  assert.equal(await api.maps().find('fine'), undefined);
  assert.match((await api.run('apply -f /none')).err, /\/none: there is no such file \[FILE_UNREADABLE\]/);
  assert.match((await api.run('apply')).err, /no file given/);
  const elsewhere = map('m', { metadata: { name: 'm', namespace: 'kube-public' } });
  assert.match((await api.withFile('apply -f FILE -n default', elsewhere)).err, /is of namespace kube-public/);
  assert.equal((await api.withFile('apply -f FILE', elsewhere)).out, 'configmap/m created\n');
  assert.ok(await api.maps('kube-public').find('m'));
});

test('objects are deleted by name or by file; what is not there is told', async (t) => {
  const api = await ApiHarness.open(t);
  for (const name of ['a', 'b', 'c']) await api.maps().create(map(name));
  assert.equal((await api.run('delete cm a')).out, 'configmap/a deleted\n');
  const gone = await api.run('delete cm/a cm/b');
  assert.deepEqual([gone.code, gone.out], [1, 'configmap/b deleted\n']);
  assert.match(gone.err, /configmap\/a is not there \[NOT_THERE\]/);
  assert.equal((await api.run('delete cm a --ignore-not-found')).code, 0);
  assert.equal((await api.withFile('delete -f FILE', map('c'))).out, 'configmap/c deleted\n');
  for (const line of [
    'delete cm',
    'delete',
    'delete cm a -f x',
    'delete cm a --timeout 3',
    'delete cm a --cascade x',
  ]) {
    assert.equal((await api.run(line)).code, 2, line);
  }
});

test('--wait waits until the very object is gone, and no longer than it may', async (t) => {
  const api = await ApiHarness.open(t);
  const held = map('held', { metadata: { name: 'held', finalizers: ['test.dev/hold'] } });
  await api.maps().create(held);
  assert.equal((await api.run('delete cm held')).out, 'configmap/held is being deleted\n');
  const late = await api.run('delete cm held --wait --timeout 5');
  assert.equal(late.code, 1);
  assert.match(late.err, /configmap\/held is not gone after 5 s \[WAIT_TIMEOUT\]/);
  // Whoever looks again after the deletion is waiting: then it is let go.
  let isDeleted = false;
  let letGo: Promise<unknown> | undefined;
  api.onRequest = (method) => {
    if (isDeleted && method === 'GET') {
      letGo ??= api.maps().patch('held', { type: 'merge', value: { metadata: { finalizers: null } } });
    }
    isDeleted ||= method === 'DELETE';
  };
  assert.equal((await api.run('delete cm held --wait')).out, 'configmap/held deleted\n');
  await letGo;
});

/** A server that has one pod, and sends its log in two pieces that cut a letter. */
function podServer(seen: TransportRequest[], containers: readonly string[]) {
  const bytes = Buffer.from('grüße\n');
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: containers.map((name) => ({ name })) },
  };
  return async (request: TransportRequest) => {
    seen.push(request);
    const isLog = request.path.includes('/log?');
    const log = async function* () {
      yield bytes.subarray(0, 3);
      yield bytes.subarray(3);
    };
    return { status: 200, headers: {}, body: isLog ? log() : Buffer.from(JSON.stringify(pod)) };
  };
}

test('logs come as the server sends them, of the container that is meant', async () => {
  const seen: TransportRequest[] = [];
  const api = new ApiHarness(podServer(seen, ['main', 'side']));
  const ran = await api.run('logs p -n ns --tail 5 --previous');
  assert.deepEqual([ran.code, ran.out, ran.err], [0, 'grüße\n', 'container main; others: side\n']);
  assert.equal(seen.at(-1)?.path, '/api/v1/namespaces/ns/pods/p/log?container=main&previous=true&tailLines=5');
  await api.run('logs pod/p -c side -f');
  assert.equal(seen.at(-1)?.path, '/api/v1/namespaces/default/pods/p/log?container=side&follow=true');
  for (const line of ['logs', 'logs a b', 'logs svc/p', 'logs p --tail -1']) {
    assert.equal((await api.run(line)).code, 2, line);
  }
});

test('with -o json several objects are one list, one is itself', async (t) => {
  const api = await ApiHarness.open(t);
  const two = [map('one'), map('two')].map((object) => JSON.stringify(object)).join('\n---\n');
  const list = (await api.withFile('apply -f FILE -o json', two)).json();
  assert.deepEqual([list.kind, (list.items as unknown[]).length], ['List', 2]);
  assert.match((await api.withFile('apply -f FILE -o yaml', two)).out, /^apiVersion: v1\nkind: List\n/);
  assert.equal((await api.withFile('apply -f FILE -o name', two)).out, 'configmap/one\nconfigmap/two\n');
  assert.equal((await api.withFile('apply -f FILE -o json', map('one'))).json().kind, 'ConfigMap');
  const odd = `${two}\n---\n{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"NO"}}`;
  const half = await api.withFile('apply -f FILE -o json', odd);
  assert.equal(half.code, 1);
  assert.equal((half.json().items as unknown[]).length, 2);
});

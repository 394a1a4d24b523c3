import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, resource, type Status } from '@reeve/kube';
import { configMaps, openServer, pods, refused, turn } from '../server/server-testing.ts';

const jobs = resource({ group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true });
const podSpec = { containers: [{ name: 'c', image: 'i' }] };

test('what nobody holds is gone at once; the answer is a Status with the uid', async () => {
  const { of } = await openServer();
  const made = await of(configMaps).create({ metadata: { name: 'a' } });
  assert.deepEqual(await of(configMaps).delete('a'), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: 'a', kind: 'configmaps', uid: made.metadata.uid },
  });
  const again = await refused(of(configMaps).delete('a'));
  assert.deepEqual([again.code, again.message], [404, 'configmaps "a" not found']);
});

test('finalizers keep an object, marked, until the last is taken away', async () => {
  const { of, clock } = await openServer();
  const made = await of(configMaps).create({ metadata: { name: 'a', finalizers: ['x.io/one', 'x.io/two'] } });
  await clock.advance(5_000);
  const marked = (await of(configMaps).delete('a')) as AnyObject;
  assert.equal(marked.metadata.deletionTimestamp, '2026-01-01T00:00:05Z');
  assert.equal(marked.metadata.deletionGracePeriodSeconds, 0);
  assert.notEqual(marked.metadata.resourceVersion, made.metadata.resourceVersion);
  // Marking once is enough.
  const again = (await of(configMaps).delete('a')) as AnyObject;
  assert.equal(again.metadata.resourceVersion, marked.metadata.resourceVersion);

  const current = await of(configMaps).get('a');
  const without = (...finalizers: string[]) => ({ ...current, metadata: { ...current.metadata, finalizers } });
  const added = await refused(of(configMaps).update(without('x.io/one', 'x.io/three')));
  assert.equal(
    added.message,
    'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/three"}',
  );
  const taken = await refused(of(configMaps).create({ metadata: { name: 'a' } }));
  assert.equal(taken.message, 'object is being deleted: configmaps "a" already exists');
  const one = await of(configMaps).update(without('x.io/one'));
  assert.deepEqual(one.metadata.finalizers, ['x.io/one']);
  const last = await of(configMaps).update({ ...one, metadata: { ...one.metadata, finalizers: [] } });
  assert.equal(last.metadata.finalizers, undefined);
  assert.equal(await of(configMaps).find('a'), undefined);
});

test('preconditions hold or nothing happens', async () => {
  const { of } = await openServer();
  const made = await of(configMaps).create({ metadata: { name: 'a' } });
  const uid = await refused(of(configMaps).delete('a', { uid: 'other' }));
  assert.equal(uid.code, 409);
  assert.equal(
    uid.message,
    `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${made.metadata.uid}). The object might have been deleted and then recreated`,
  );
  const version = await refused(of(configMaps).delete('a', { resourceVersion: '1' }));
  assert.match(version.message ?? '', /the ResourceVersion in the precondition \(1\) does not match/);
  await of(configMaps).delete('a', { uid: made.metadata.uid, resourceVersion: made.metadata.resourceVersion });
  assert.equal(await of(configMaps).find('a'), undefined);
});

test('what shall become of dependents is written down for the garbage collector', async () => {
  const { of, request } = await openServer();
  const finalizers = async (name: string, policy?: 'Foreground' | 'Background' | 'Orphan') => {
    await of(configMaps).create({ metadata: { name } });
    const answer = (await of(configMaps).delete(name, policy ? { propagationPolicy: policy } : {})) as AnyObject;
    return answer.metadata.finalizers;
  };
  assert.deepEqual(await finalizers('f', 'Foreground'), ['foregroundDeletion']);
  assert.deepEqual(await finalizers('o', 'Orphan'), ['orphan']);
  assert.equal(await finalizers('b', 'Background'), undefined);
  assert.equal(await of(configMaps).find('b'), undefined);
  // The second word counts: background lets go of what foreground holds.
  await of(configMaps).delete('f', { propagationPolicy: 'Background' });
  assert.equal(await of(configMaps).find('f'), undefined);
  // Jobs orphan by default, as they always did.
  await of(jobs).create({
    metadata: { name: 'j' },
    spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } },
  });
  assert.deepEqual(((await of(jobs).delete('j')) as AnyObject).metadata.finalizers, ['orphan']);
  const wrong = await request('DELETE', '/api/v1/namespaces/default/configmaps/o', { propagationPolicy: 'Maybe' });
  assert.equal(
    wrong.json.message,
    'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Maybe": supported values: "Foreground", "Background", "Orphan", "nil"',
  );
  const query = await request('DELETE', '/api/v1/namespaces/default/configmaps/o?propagationPolicy=Background');
  assert.equal((query.json as Status).status, 'Success');
});

test('grace is any int64, and its end is counted as the real server counts', async () => {
  const { request, errors } = await openServer();
  const path = '/api/v1/namespaces/default/pods';
  const pod = (name: string, seconds: string) =>
    `{"metadata":{"name":"${name}"},"spec":{"nodeName":"n","terminationGracePeriodSeconds":${seconds},"containers":[{"name":"c","image":"i"}]}}`;
  // Nanoseconds of 64 bits: too many of them begin anew. So does the real server.
  const ends = [
    // Of the first, a part of a second is lost in the time that is kept.
    ['9007199254740991', '2172-02-20T23:53:37Z', '2026-01-01T00:00:04Z'],
    ['9223372036854775807', '2025-12-31T23:59:59Z', '2026-01-01T00:00:05Z'],
    ['9223372036', '2318-04-12T23:47:16Z', '2026-01-01T00:00:05Z'],
  ] as const;
  for (const [seconds, end, sooner] of ends) {
    for (const isOwn of [false, true]) {
      await request('POST', path, pod('p', isOwn ? seconds : '30'));
      const marked = await request('DELETE', `${path}/p`, isOwn ? undefined : `{"gracePeriodSeconds":${seconds}}`);
      assert.equal(marked.status, 200, marked.text);
      assert.match(marked.text, new RegExp(`"deletionGracePeriodSeconds":${seconds}[,}]`));
      assert.equal(marked.json.metadata.deletionTimestamp, end);
      const same = await request('DELETE', `${path}/p?gracePeriodSeconds=${seconds}`);
      assert.deepEqual([same.status, same.json.metadata.deletionTimestamp], [200, end], same.text);
      const shorter = await request('DELETE', `${path}/p`, { gracePeriodSeconds: 5 });
      assert.equal(shorter.json.metadata.deletionTimestamp, sooner, shorter.text);
      assert.equal((await request('DELETE', `${path}/p?gracePeriodSeconds=0`)).status, 200);
      assert.equal((await request('GET', `${path}/p`)).status, 404);
    }
  }
  assert.deepEqual(errors, []);
});

test('grace that is no int64 is refused', async () => {
  const { request } = await openServer();
  const path = '/api/v1/namespaces/default/configmaps/a';
  const refusal = async (query: string, body?: string) => {
    const { status, json } = await request('DELETE', path + query, body);
    return `${status} ${json.message}`;
  };
  const wrong = (number: string) =>
    `400 json: cannot unmarshal number ${number} into Go struct field DeleteOptions.gracePeriodSeconds of type int64`;
  for (const number of ['1.5', '9223372036854775808']) {
    assert.equal(await refusal('', `{"gracePeriodSeconds":${number}}`), wrong(number));
  }
  const parsing = (number: string, why: string) => `400 strconv.ParseInt: parsing "${number}": ${why}`;
  assert.equal(await refusal('?gracePeriodSeconds=1.5'), parsing('1.5', 'invalid syntax'));
  const large = '9223372036854775808';
  assert.equal(await refusal(`?gracePeriodSeconds=${large}`), parsing(large, 'value out of range'));
});

test('a pod on a node gets its grace, which can only be shortened', async () => {
  const { of, clock, store } = await openServer();
  await of(pods).create({ metadata: { name: 'p' }, spec: { ...podSpec, nodeName: 'n' } });
  const going = (await of(pods).delete('p')) as AnyObject;
  assert.deepEqual(
    [going.metadata.deletionTimestamp, going.metadata.deletionGracePeriodSeconds, going.metadata.generation],
    ['2026-01-01T00:00:30Z', 30, 2],
  );
  await clock.advance(5_000);
  const longer = (await of(pods).delete('p', { gracePeriodSeconds: 60 })) as AnyObject;
  assert.equal(longer.metadata.deletionTimestamp, '2026-01-01T00:00:30Z');
  const shorter = (await of(pods).delete('p', { gracePeriodSeconds: 10 })) as AnyObject;
  assert.equal(shorter.metadata.deletionTimestamp, '2026-01-01T00:00:10Z');
  const now = (await of(pods).delete('p', { gracePeriodSeconds: 0 })) as AnyObject;
  assert.equal(now.kind, 'Pod');
  assert.equal(await of(pods).find('p'), undefined);

  // Without grace it is marked and gone in one request; those who watch see both.
  const made = await of(pods).create({ metadata: { name: 'q' }, spec: podSpec });
  const before = store.revision;
  const gone = (await of(pods).delete('q')) as AnyObject;
  assert.equal(await of(pods).find('q'), undefined);
  assert.equal(gone.metadata.uid, made.metadata.uid);
  assert.deepEqual(
    store.since('pods', before).map(({ deleted }) => deleted),
    [false, true],
  );
});

test('a collection is deleted as selected', async () => {
  const { of, request } = await openServer();
  for (const name of ['a', 'b', 'c']) {
    await of(configMaps).create({ metadata: { name, labels: { keep: name === 'b' ? 'yes' : 'no' } } });
  }
  await of(configMaps, 'kube-system').create({ metadata: { name: 'd' } });
  const answer = await request('DELETE', '/api/v1/namespaces/default/configmaps?labelSelector=keep%3Dno');
  assert.equal(answer.json.kind, 'ConfigMapList');
  const left = await of(configMaps).list();
  assert.deepEqual(
    left.items.map(({ metadata }) => metadata.name),
    ['b'],
  );
  assert.ok(await of(configMaps, 'kube-system').find('d'));
});

test('those who watch see an object go as it was stored last', async () => {
  const { of } = await openServer();
  const made = await of(configMaps).create({ metadata: { name: 'a', finalizers: ['x.io/one'] } });
  const seen: string[] = [];
  const watching = (async () => {
    for await (const event of of(configMaps).watch({ resourceVersion: made.metadata.resourceVersion })) {
      if (event.type === 'BOOKMARK') continue;
      const { finalizers, resourceVersion } = event.object.metadata;
      seen.push(`${event.type} ${String(finalizers)} ${resourceVersion}`);
      if (event.type === 'DELETED') break;
    }
  })();
  await turn();
  const marked = (await of(configMaps).delete('a')) as AnyObject & {
    metadata: { name: string; resourceVersion: string };
  };
  await of(configMaps).update({ ...marked, metadata: { ...marked.metadata, finalizers: [] } });
  await watching;
  assert.deepEqual(seen, ['MODIFIED x.io/one 6', 'DELETED x.io/one 7']);
});

test('who takes back what shall become of dependents sees the object as it was', async () => {
  const { of } = await openServer();
  await of(pods).create({ metadata: { name: 'p' }, spec: podSpec });
  await of(pods).delete('p', { propagationPolicy: 'Orphan' });
  const gone = (await of(pods).delete('p', { propagationPolicy: 'Background' })) as AnyObject;
  assert.deepEqual(gone.metadata.finalizers, ['orphan']);
  assert.equal(await of(pods).find('p'), undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resource } from '@reeve/kube';
import { configMaps, namespaces, openServer, pods, refused, setSpec, statefulSets } from '../server/server-testing.ts';

test('a new object gets its uid, time, version and namespace; the answer is what is stored', async () => {
  const { of } = await openServer();
  const made = await of(configMaps).create({ metadata: { name: 'a' }, data: { x: '1' } });
  assert.match(made.metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(made.metadata.creationTimestamp, '2026-01-01T00:00:00Z');
  assert.equal(made.metadata.namespace, 'default');
  assert.equal(made.metadata.resourceVersion, '5'); // four namespaces came before
  assert.equal(made.metadata.generation, undefined);
  assert.deepEqual([made.apiVersion, made.kind, made.data], ['v1', 'ConfigMap', { x: '1' }]);
  assert.deepEqual(await of(configMaps).get('a'), made);
});

test('what a client says of system fields is ignored on creation', async () => {
  const { of } = await openServer();
  const made = await of(statefulSets).create({
    metadata: {
      name: 'a',
      uid: 'mine',
      creationTimestamp: '1999-01-01T00:00:00Z',
      generation: 7,
      deletionTimestamp: '1999-01-01T00:00:00Z',
      managedFields: [{ manager: 'x' }],
    },
    spec: setSpec,
    status: { replicas: 3 },
  });
  assert.notEqual(made.metadata.uid, 'mine');
  assert.equal(made.metadata.creationTimestamp, '2026-01-01T00:00:00Z');
  assert.equal(made.metadata.generation, 1);
  assert.equal(made.metadata.deletionTimestamp, undefined);
  assert.deepEqual(
    made.metadata.managedFields?.map(({ manager }) => manager),
    ['reeve'],
  );
  assert.deepEqual(made.status, { replicas: 0, availableReplicas: 0 });
});

test('an object that exists, or a name that is none, is refused in the server’s words', async () => {
  const { of } = await openServer();
  await of(configMaps).create({ metadata: { name: 'a' } });
  assert.deepEqual(await refused(of(configMaps).create({ metadata: { name: 'a' } })), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'configmaps "a" already exists',
    reason: 'AlreadyExists',
    details: { name: 'a', kind: 'configmaps' },
    code: 409,
  });
  const invalid = await refused(of(configMaps).create({ metadata: { name: 'A_' } }));
  const text = `Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`;
  assert.equal(invalid.code, 422);
  assert.equal(invalid.message, `ConfigMap "A_" is invalid: metadata.name: ${text}`);
  assert.deepEqual(invalid.details, {
    name: 'A_',
    kind: 'ConfigMap',
    causes: [{ reason: 'FieldValueInvalid', message: text, field: 'metadata.name' }],
  });
  const nameless = await refused(of(configMaps).create({ metadata: {} }));
  assert.equal(
    nameless.message,
    'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  );
});

test('config maps and secrets hold a megabyte of values and no more, in the words of the real server', async () => {
  const { of } = await openServer();
  const secrets = resource({ group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true });
  const most = 1024 * 1024;
  const text = 'Too long: may not be more than 1048576 bytes';
  const refusals: readonly (readonly [() => Promise<unknown>, string])[] = [
    [() => of(configMaps).create({ metadata: { name: 'a' }, data: { x: 'y'.repeat(most + 1) } }), `[]: ${text}`],
    [
      () =>
        of(configMaps).create({
          metadata: { name: 'a' },
          data: { x: 'ü' },
          binaryData: { y: Buffer.alloc(most - 1).toString('base64') },
        }),
      `[]: ${text}`,
    ],
    [
      () =>
        of(secrets).create({
          metadata: { name: 'a' },
          data: { x: Buffer.alloc(most + 1).toString('base64') },
        } as never),
      `data: ${text}`,
    ],
  ];
  for (const [act, problem] of refusals) {
    const { code, message } = await refused(act());
    assert.equal(code, 422);
    assert.ok(message?.endsWith(problem), message);
  }
  const made = await of(configMaps).create({ metadata: { name: 'a' }, data: { x: 'y'.repeat(most) } });
  const longer = { ...made, data: { x: 'y'.repeat(most + 1) } };
  assert.equal((await refused(of(configMaps).update(longer))).code, 422);
});

test('a name is generated, and thrown again when it is taken', async () => {
  const { of, store } = await openServer({ random: { next: () => 0 } });
  const first = await of(configMaps).create({ metadata: { generateName: 'a-' } });
  assert.equal(first.metadata.name, 'a-bbbbb');
  assert.equal(first.metadata.generateName, 'a-');
  const taken = await refused(of(configMaps).create({ metadata: { generateName: 'a-' } }));
  assert.equal(
    taken.message,
    'configmaps "a-bbbbb" already exists, the server was not able to generate a unique name for the object',
  );
  assert.equal(taken.details?.retryAfterSeconds, 1);
  // Unlucky for as many letters as a name has.
  let unlucky = Number.POSITIVE_INFINITY;
  const lucky = await openServer({ random: { next: () => (unlucky-- > 0 ? 0 : 0.5) } });
  await lucky.of(configMaps).create({ metadata: { name: 'a-bbbbb' } });
  unlucky = 5;
  const second = await lucky.of(configMaps).create({ metadata: { generateName: 'a-' } });
  assert.match(second.metadata.name, /^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  assert.equal(store.count('configmaps'), 1);
});

test('namespaces must exist, match the path, and not be on their way out', async () => {
  const { of, request } = await openServer();
  const nowhere = await refused(of(configMaps, 'nowhere').create({ metadata: { name: 'a' } }));
  assert.deepEqual([nowhere.code, nowhere.message], [404, 'namespaces "nowhere" not found']);
  const other = await request('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'a', namespace: 'b' },
  });
  assert.equal(
    other.json.message,
    'the namespace of the provided object does not match the namespace sent on the request',
  );
  assert.equal((await request('POST', '/api/v1/configmaps', { metadata: { name: 'a' } })).status, 405);

  await of(namespaces).create({ metadata: { name: 'brief' } });
  const going = await of(namespaces).delete('brief');
  assert.deepEqual(going.status, { phase: 'Terminating' });
  const late = await refused(of(configMaps, 'brief').create({ metadata: { name: 'a' } }));
  assert.equal(
    late.message,
    'configmaps "a" is forbidden: unable to create new content in namespace brief because it is being terminated',
  );
  assert.equal(late.details?.causes?.[0]?.reason, 'NamespaceTerminating');
  // Its own finalizer goes through a subresource; then it is gone.
  const finalized = { ...(await of(namespaces).get('brief')), spec: { finalizers: [] } };
  await of(namespaces).update(finalized, { subresource: 'finalize' });
  assert.equal(await of(namespaces).find('brief'), undefined);
  const kept = await refused(of(namespaces).delete('default'));
  assert.equal(kept.message, 'namespaces "default" is forbidden: this namespace may not be deleted');
});

test('an update needs the newest version, unless the kind takes any', async () => {
  const { of } = await openServer();
  const first = await of(configMaps).create({ metadata: { name: 'a' }, data: { x: '1' } });
  const second = await of(configMaps).update({ ...first, data: { x: '2' } });
  assert.equal(second.metadata.resourceVersion, '6');
  assert.deepEqual(await refused(of(configMaps).update({ ...first, data: { x: '3' } })), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message:
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    reason: 'Conflict',
    details: { name: 'a', kind: 'configmaps' },
    code: 409,
  });
  const blind = await of(configMaps).update({
    ...first,
    metadata: { name: 'a', resourceVersion: '' },
    data: { x: '4' },
  });
  assert.deepEqual(blind.data, { x: '4' });
  assert.equal(blind.metadata.uid, first.metadata.uid);
  assert.equal(blind.metadata.creationTimestamp, first.metadata.creationTimestamp);

  const leases = resource({
    group: 'coordination.k8s.io',
    version: 'v1',
    plural: 'leases',
    kind: 'Lease',
    namespaced: true,
  });
  const lease = await of(leases).create({ metadata: { name: 'l' } });
  const strict = await refused(of(leases).update({ ...lease, metadata: { name: 'l', resourceVersion: '' } }));
  assert.equal(strict.code, 422);
  assert.equal(
    strict.message,
    'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  );
});

test('an update that changes nothing writes nothing', async () => {
  const { of, store } = await openServer();
  const first = await of(configMaps).create({
    metadata: { name: 'a', labels: { x: 'y', a: 'b' } },
    data: { x: '1', y: '2' },
  });
  const before = store.revision;
  const same = await of(configMaps).update({ ...first, data: { y: '2', x: '1' } });
  assert.equal(store.revision, before);
  assert.equal(same.metadata.resourceVersion, first.metadata.resourceVersion);
});

test('uid, name and time cannot be changed', async () => {
  const { of, request } = await openServer();
  const first = await of(configMaps).create({ metadata: { name: 'a' } });
  const path = '/api/v1/namespaces/default/configmaps/a';
  const uid = await request('PUT', path, { ...first, metadata: { ...first.metadata, uid: 'other' } });
  assert.equal(
    uid.json.message,
    `Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: ${first.metadata.uid}`,
  );
  const name = await request('PUT', path, { ...first, metadata: { ...first.metadata, name: 'b' } });
  assert.equal(name.json.message, 'the name of the object (b) does not match the name on the URL (a)');
  const time = await of(configMaps).update({
    ...first,
    metadata: { ...first.metadata, creationTimestamp: '1999-01-01T00:00:00Z' },
  });
  assert.equal(time.metadata.creationTimestamp, first.metadata.creationTimestamp);
});

test('the generation counts changes of the spec alone, and a status goes its own way', async () => {
  const { of } = await openServer();
  const first = await of(statefulSets).create({ metadata: { name: 'a' }, spec: setSpec });
  const labelled = await of(statefulSets).update({ ...first, metadata: { ...first.metadata, labels: { x: 'y' } } });
  assert.equal(labelled.metadata.generation, 1);
  const status = await of(statefulSets).update(
    { ...labelled, spec: {}, status: { replicas: 2 } },
    { subresource: 'status' },
  );
  assert.equal(status.metadata.generation, 1);
  assert.deepEqual(status.spec, first.spec);
  assert.deepEqual(status.status, { replicas: 2, availableReplicas: 0 });
  const scaled = await of(statefulSets).update({
    ...status,
    spec: { ...(status.spec as object), replicas: 5 },
    status: {},
  });
  assert.equal(scaled.metadata.generation, 2);
  assert.deepEqual(scaled.status, { replicas: 2, availableReplicas: 0 });
});

test('scale reads and writes one number', async () => {
  const { of } = await openServer();
  const set = await of(statefulSets).create({ metadata: { name: 'a' }, spec: { ...setSpec, replicas: 3 } });
  const scale = await of(statefulSets).scale('a');
  assert.deepEqual([scale.spec, scale.status], [{ replicas: 3 }, { replicas: 0, selector: 'a=b,app=x' }]);
  assert.equal(scale.apiVersion, 'autoscaling/v1');
  const changed = await of(statefulSets).update(
    { ...scale, metadata: { ...set.metadata }, spec: { replicas: 4 } } as never,
    {
      subresource: 'scale',
    },
  );
  assert.deepEqual(changed.spec, { replicas: 4 });
  const after = await of(statefulSets).get('a');
  assert.deepEqual([(after.spec as { replicas: number }).replicas, after.metadata.generation], [4, 2]);
});

test('an update may create what its kind lets it', async () => {
  const { of, request } = await openServer();
  const made = await request('PUT', '/api/v1/namespaces/default/endpoints/a', { metadata: { name: 'a' }, subsets: [] });
  assert.equal(made.status, 201);
  assert.equal(
    (await request('PUT', '/api/v1/namespaces/default/configmaps/a', { metadata: { name: 'a' } })).status,
    404,
  );
  assert.equal(await of(configMaps).find('a'), undefined);
});

test('dry run answers as if, and writes nothing', async () => {
  const { of, store } = await openServer();
  const before = store.revision;
  const made = await of(configMaps).create({ metadata: { name: 'a' } }, { dryRun: true });
  assert.equal(made.metadata.name, 'a');
  assert.equal(store.revision, before);
  assert.equal(await of(configMaps).find('a'), undefined);
});

test('numbers beyond a double and unknown metadata', async () => {
  const { request, of } = await openServer();
  const path = '/api/v1/namespaces/default/configmaps';
  const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions';
  const big = await request('POST', revisions, '{"metadata":{"name":"a"},"revision":9223372036854775807,"data":{}}');
  assert.match(big.text, /:9223372036854775807/);
  assert.match((await request('GET', `${revisions}/a`)).text, /:9223372036854775807/);
  const strict = await refused(of(configMaps).create({ metadata: { name: 'b', nope: 1 } as never }));
  assert.equal(
    strict.message,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.nope"',
  );
  const warned = await request('POST', path, { metadata: { name: 'c', nope: 1 } });
  assert.equal(warned.headers.warning, '299 - "unknown field \\"metadata.nope\\""');
  assert.equal(warned.status, 201);
});

test('pods get the defaults of the real server', async () => {
  const { of } = await openServer();
  const pod = await of(pods).create({
    metadata: { name: 'p' },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'registry:5000/x',
          ports: [{ containerPort: 80 }],
          readinessProbe: { httpGet: { port: 80 } },
          resources: { limits: { cpu: '1' } },
        },
      ],
      volumes: [{ name: 'v' }, { name: 's', secret: { secretName: 's' } }],
    },
  });
  assert.deepEqual(pod.spec, {
    containers: [
      {
        name: 'c',
        image: 'registry:5000/x',
        imagePullPolicy: 'Always',
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        readinessProbe: {
          httpGet: { port: 80, path: '/', scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        resources: { limits: { cpu: '1' }, requests: { cpu: '1' } },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ],
    volumes: [
      { name: 'v', emptyDir: {} },
      { name: 's', secret: { secretName: 's', defaultMode: 420 } },
    ],
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    enableServiceLinks: true,
    priority: 0,
    preemptionPolicy: 'PreemptLowerPriority',
    tolerations: ['not-ready', 'unreachable'].map((why) => ({
      key: `node.kubernetes.io/${why}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
  });
  assert.deepEqual(pod.status, { phase: 'Pending', qosClass: 'Burstable' });
});

test('an integer of another type is refused by every way to write, in the words of each', async () => {
  const { request, of } = await openServer();
  const path = '/apis/apps/v1/namespaces/default/statefulsets';
  const set = (replicas: string) =>
    JSON.stringify({ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 's' }, spec: setSpec }).replace(
      '"spec":{',
      `"spec":{"replicas":${replicas},`,
    );
  const wrong = (number: string, struct = 'StatefulSetSpec') =>
    `json: cannot unmarshal number ${number} into Go struct field ${struct}.spec.replicas of type int32`;
  const undecodable = (number: string) =>
    `StatefulSet in version "v1" cannot be handled as a StatefulSet: ${wrong(number)}`;
  for (const number of ['1.5', '99999999999', '-12345678901234567890']) {
    const made = await request('POST', `${path}?fieldValidation=Strict`, set(number));
    assert.deepEqual([made.status, made.json.message], [400, undecodable(number)]);
  }
  assert.equal((await request('POST', path, set('1e999'))).status, 400);
  await of(statefulSets).create({ metadata: { name: 's' }, spec: { ...setSpec, replicas: 1 } });
  assert.equal((await request('PUT', `${path}/s`, set('1.5'))).json.message, undecodable('1.5'));
  const ways = [
    ['application/merge-patch+json', '{"spec":{"replicas":1.5}}'],
    ['application/strategic-merge-patch+json', '{"spec":{"replicas":1.5}}'],
    ['application/json-patch+json', '[{"op":"add","path":"/spec/replicas","value":1.5}]'],
    ['application/apply-patch+yaml', set('1.5')],
  ] as const;
  for (const [type, body] of ways) {
    const force = type === 'application/apply-patch+yaml' ? '&force=true' : '';
    const changed = await request('PATCH', `${path}/s?fieldManager=m${force}`, body, { 'content-type': type });
    assert.ok([400, 422, 500].includes(changed.status), changed.text);
    assert.match(
      changed.json.message ?? '',
      /cannot unmarshal number 1\.5 into Go struct field .*replicas of type int32/,
    );
  }
  for (const number of ['1.5', '99999999999', '9223372036854775807']) {
    const scaled = await request('PUT', `${path}/s/scale`, `{"metadata":{"name":"s"},"spec":{"replicas":${number}}}`);
    const before = 'Scale in version "v1" cannot be handled as a Scale: ';
    assert.deepEqual([scaled.status, scaled.json.message], [400, before + wrong(number, 'ScaleSpec')]);
  }
  const patched = await request('PATCH', `${path}/s/scale`, '{"spec":{"replicas":99999999999}}', {
    'content-type': 'application/merge-patch+json',
  });
  assert.equal(patched.status, 422, patched.text);
  assert.ok(patched.json.message?.endsWith(wrong('99999999999', 'ScaleSpec')), patched.text);
  assert.equal((await of(statefulSets).scale('s')).spec?.replicas, 1);
});

test('integers of metadata are int64', async () => {
  const { request } = await openServer();
  const path = '/api/v1/namespaces/default/configmaps';
  const made = await request('POST', path, '{"metadata":{"name":"a","generation":9223372036854775807}}');
  assert.deepEqual([made.status, made.json.metadata.generation], [201, undefined], made.text);
  for (const number of ['1.5', '9223372036854775808']) {
    const { status, json } = await request('POST', path, `{"metadata":{"name":"b","generation":${number}}}`);
    const wrong = `cannot unmarshal number ${number} into Go struct field ObjectMeta.metadata.generation of type int64`;
    assert.deepEqual([status, json.message?.endsWith(wrong)], [400, true], json.message);
  }
});

test('integers at the edge of int64 are checked like all others', async () => {
  const { request } = await openServer();
  const made = async (spec: string) => {
    const body = `{"metadata":{"name":"a"},"spec":{${spec},"containers":[{"name":"c","image":"i"}]}}`;
    const { status, text } = await request('POST', '/api/v1/namespaces/default/pods?dryRun=All', body);
    return `${status} ${text}`;
  };
  for (const number of ['9223372036854775807', '-9223372036854775808']) {
    const wrong = `422 .*Invalid value: ${number}: must be between`;
    assert.match(await made(`"activeDeadlineSeconds":${number}`), new RegExp(wrong));
    assert.match(await made(`"securityContext":{"runAsUser":${number}}`), new RegExp(wrong));
  }
  assert.match(await made('"terminationGracePeriodSeconds":-9223372036854775808'), /^201 .*GracePeriodSeconds":1[,}]/);
});

/** `reeve get` and `reeve events` on an API in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '@reeve/kube';
import { ApiHarness, events, map } from './api.ts';

test('objects are listed as a table, by namespace, by label, or all', async (t) => {
  const api = await ApiHarness.open(t);
  const none = await api.run('get configmaps');
  assert.deepEqual([none.code, none.out, none.err], [0, '', 'no configmaps in namespace default\n']);
  await api.maps().create(map('one', { metadata: { name: 'one', labels: { app: 'x' } }, data: { a: '1', b: '2' } }));
  await api.maps().create(map('two'));
  await api.maps('kube-public').create(map('three'));
  const rows = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
  const all = await api.run('get cm');
  assert.deepEqual([all.code, all.err], [0, '']);
  assert.deepEqual(
    rows(all.out).map((row) => row.slice(0, 2)),
    [
      ['NAME', 'DATA'],
      ['one', '2'],
      ['two', '0'],
    ],
  );
  assert.deepEqual(
    rows((await api.run('get configmap -l app=x')).out).map(([name]) => name),
    ['NAME', 'one'],
  );
  assert.deepEqual(
    rows((await api.run('get ConfigMap -n kube-public')).out).map(([name]) => name),
    ['NAME', 'three'],
  );
  assert.deepEqual(
    rows((await api.run('get cm --all-namespaces')).out).map((row) => row.slice(0, 2)),
    [
      ['NAMESPACE', 'NAME'],
      ['default', 'one'],
      ['default', 'two'],
      ['kube-public', 'three'],
    ],
  );
  assert.match(
    (await api.run('get cm,ns')).out,
    /^NAME.*\nconfigmap\/one .*\nconfigmap\/two .*\n\nNAME.*\nnamespace\/default /,
  );
  assert.equal((await api.run('get cm/one cm/two -o name')).out, 'configmap/one\nconfigmap/two\n');
});

test('of several that are named what is there is shown, the rest reported', async (t) => {
  const api = await ApiHarness.open(t);
  await api.maps().create(map('one'));
  await api.maps().create(map('two'));
  const table = await api.run('get cm/one cm/nope cm/two ns/none');
  assert.equal(table.code, 1);
  assert.match(table.out, /^NAME.*\nconfigmap\/one .*\nconfigmap\/two .*\n$/);
  assert.match(table.err, /"nope" not found.*KUBE_NOT_FOUND[^]*"none" not found/);
  const json = await api.run('get cm one nope -o json');
  assert.equal(json.code, 1);
  assert.deepEqual(
    (json.json().items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name),
    ['one'],
  );
  assert.match(json.err, /"nope" not found/);
  const alone = await api.run('get cm nope');
  assert.deepEqual([alone.code, alone.out], [1, '']);
});

test('one object is printed whole, several as a list, without who owns what', async (t) => {
  const api = await ApiHarness.open(t);
  await api.maps().create(map('one', { data: { yes: 'no' } }));
  const one = (await api.run('get cm one -o json')).json();
  assert.deepEqual([one.kind, one.data], ['ConfigMap', { yes: 'no' }]);
  assert.equal((one.metadata as Record<string, unknown>).managedFields, undefined);
  const list = (await api.run('get cm -o json')).json();
  assert.deepEqual([list.kind, (list.items as unknown[]).length], ['List', 1]);
  assert.match((await api.run('get cm one -o yaml')).out, /\ndata:\n {2}"yes": "no"\n/);
});

test('a custom kind has the columns of its definition', async (t) => {
  const api = await ApiHarness.open(t);
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.dev' },
    spec: {
      group: 'example.dev',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema,
          additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        },
      ],
    },
  };
  const widget = { apiVersion: 'example.dev/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 3 } };
  const text = [definition, widget].map((one) => JSON.stringify(one)).join('\n---\n');
  const applied = await api.withFile('apply -f FILE', text);
  assert.equal(applied.code, 0, applied.err);
  assert.equal(
    applied.out,
    'customresourcedefinition.apiextensions.k8s.io/widgets.example.dev created\nwidget.example.dev/w created\n',
  );
  assert.equal((await api.run('get wd')).out, 'NAME    SIZE\nw       3\n');
});

test('changes are printed as they come, until Ctrl-C', async (t) => {
  const api = await ApiHarness.open(t);
  await api.maps().create(map('first'));
  let stop = () => undefined as void;
  const seen: string[] = [];
  const ran = await api.run('get cm -w -o name', {
    interrupt: (send) => (stop = send),
    onOut: (text) => {
      seen.push(text.trim());
      if (text.includes('first')) void api.maps().create(map('second'));
      if (text.includes('second')) stop();
    },
  });
  assert.deepEqual([ran.code, ran.err], [0, '']);
  assert.deepEqual(seen, ['configmap/first', 'configmap/second']);
});

test('lines that mean nothing are refused before anybody is asked', async (t) => {
  const api = await ApiHarness.open(t);
  const lines: readonly [string, RegExp][] = [
    ['get', /no kind given/],
    ['get cm one -l a=b', /exclude each other/],
    ['get cm one -A', /exclude each other/],
    ['get cm -A -n x', /exclude each other/],
    ['get cm,ns -w', /--watch takes one kind/],
    ['get cm -o xml', /one of table, wide, json, yaml, name/],
    ['events pods', /KIND\/NAME/],
    ['events -A -n x', /exclude each other/],
  ];
  for (const [line, message] of lines) {
    const { code, err } = await api.run(line);
    assert.equal(code, 2, `${line}: ${err}`);
    assert.match(err, message, line);
  }
  assert.deepEqual(api.asked, []);
  const unknown = await api.run('get confgmaps');
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /there is no kind 'confgmaps'; did you mean configmaps\? \[KIND_UNKNOWN\]\n +→ /);
  const selector = await api.run(['get', 'cm', '-l', 'a b c']);
  assert.equal(selector.code, 2);
  assert.match(selector.err, /--selector 'a b c': unable to parse requirement: .* \[USAGE\]\n +→ reeve get --help/);
  const missing = await api.run('get cm nothing');
  assert.equal(missing.code, 1);
  assert.match(missing.err, /"nothing" not found \[KUBE_NOT_FOUND\]\n +→ /);
});

test('events are in order of time, of all or of one object', async (t) => {
  const api = await ApiHarness.open(t);
  const event = (name: string, about: string, at: string) =>
    api.client.resource(events, 'default').create({
      metadata: { name },
      involvedObject: { kind: 'Pod', namespace: 'default', name: about },
      reason: `R-${name}`,
      message: `what\nhappened to ${about}`,
      type: 'Normal',
      firstTimestamp: at,
      lastTimestamp: at,
    });
  await event('late', 'web-0', '2029-12-31T23:59:00Z');
  await event('early', 'web-1', '2029-12-31T23:00:00Z');
  const reasons = (text: string) => [...text.matchAll(/R-\w+/g)].map(([word]) => word);
  const all = await api.run('events');
  assert.deepEqual(reasons(all.out), ['R-early', 'R-late']);
  assert.match(all.out, /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n60m +Normal +R-early +pod\/web-1 +what\n60s /);
  assert.deepEqual(reasons((await api.run('events pod/web-0')).out), ['R-late']);
  const nobody = await api.run('events pod/web-9');
  assert.equal(nobody.code, 1);
  assert.match(nobody.err, /"web-9" not found \[KUBE_NOT_FOUND\]/);
  await api.maps().create(map('calm'));
  const calm = await api.run('events cm/calm');
  assert.deepEqual([calm.code, calm.err], [0, 'no events in namespace default\n']);
});

test('the API is that of the option, of the environment, of `reeve up` here, or as kubectl has it', async (t) => {
  const api = await ApiHarness.open(t);
  const { files } = api.harness;
  const file = async (line: string, env: Readonly<Record<string, string>> = {}) => {
    await api.run(line, { env: { XDG_STATE_HOME: '/state', ...env } });
    return api.asked.at(-1);
  };
  assert.deepEqual(await file('get ns'), {});
  await files.write('/state/reeve/local/version', '1\n');
  assert.deepEqual(await file('get ns'), {}, 'it never started');
  await files.write('/state/reeve/local/kubeconfig', '{}');
  assert.deepEqual(await file('get ns -n x --context c'), {
    file: '/state/reeve/local/kubeconfig',
    context: 'c',
    namespace: 'x',
  });
  assert.deepEqual(await file('get ns', { KUBECONFIG: '/mine' }), {});
  // Nobody is there: what would serve it is told, if it is known.
  api.beforeRequest = () => Promise.reject(new KubeError('KUBE_UNREACHABLE', 'nobody answers'));
  const said = async (line: string, KUBECONFIG = '') =>
    (await api.run(line, { env: { XDG_STATE_HOME: '/state', KUBECONFIG } })).err.split(' [', 1)[0];
  const here = '/state/reeve/local/kubeconfig';
  assert.equal(await said('get ns'), `reeve: nobody answers (by ${here}; \`reeve up\` is not running)`);
  await files.write('/a b/version', '1\n');
  await files.write('/a b/kubeconfig', '{}');
  const there = "reeve: nobody answers (by /a b/kubeconfig; `reeve up --data '/a b'` is not running)";
  assert.equal(await said('get ns', '/a b/kubeconfig'), there);
  assert.equal(await said('get ns', '/mine'), 'reeve: nobody answers (by /mine)');
  assert.equal(await said('get ns --kubeconfig /this'), 'reeve: nobody answers (by /this)');
  api.beforeRequest = () => Promise.resolve();
  assert.deepEqual(await file('get ns --kubeconfig /this', { KUBECONFIG: '/mine' }), { file: '/this' });
});

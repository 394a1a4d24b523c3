import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import { styleFor } from '../output/style.ts';
import { ageText, durationText } from './age.ts';
import { customColumns, eventTime, knownColumns } from './columns.ts';
import { valueAt } from './jsonpath.ts';
import { podSummary } from './pod-summary.ts';
import { serverTable, TablePrinter, tableOf } from './table.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const plain = styleFor(false, {});
const layout = { isWide: false, withNamespace: false, prefix: '' };

test('ages get coarser as they grow', () => {
  const [s, m, h, d] = [1_000, 60_000, 3_600_000, 86_400_000] as const;
  const expected: readonly [number, string][] = [
    [-5 * s, '<invalid>'],
    [-500, '0s'],
    [119 * s, '119s'],
    [2 * m, '2m'],
    [5 * m + 12 * s, '5m12s'],
    [10 * m + 12 * s, '10m'],
    [3 * h + 20 * m, '3h20m'],
    [8 * h + 20 * m, '8h'],
    [47 * h, '47h'],
    [5 * d + 4 * h, '5d4h'],
    [8 * d + 4 * h, '8d'],
    [3 * 365 * d, '3y'],
    [3 * 365 * d + 20 * d, '3y20d'],
    [9 * 365 * d + 20 * d, '9y'],
  ];
  for (const [ms, text] of expected) assert.equal(durationText(ms), text);
  assert.equal(ageText('2026-01-01T11:59:00Z', NOW), '60s');
  assert.equal(ageText(undefined, NOW), '<unknown>');
});

test('paths of printer columns', () => {
  const object = {
    metadata: { labels: { 'a.b/c': 'x' } },
    status: {
      n: 0,
      list: [
        { type: 'A', on: true },
        { type: 'Ready', status: 'True' },
      ],
    },
  };
  assert.equal(valueAt(object, '.status.n'), 0);
  assert.equal(valueAt(object, '.status.list[?(@.type=="Ready")].status'), 'True');
  assert.equal(valueAt(object, ".status.list[?(@.on==true)]['type']"), 'A');
  assert.equal(valueAt(object, '.status.list[-1].type'), 'Ready');
  assert.equal(valueAt(object, '.status.list[*].status'), 'True');
  assert.equal(valueAt(object, '{.metadata.labels.a\\.b/c}'), 'x');
  for (const none of ['.status.other', '.status.list[5]', '.status.list[?(@.type>1)]', '.status.n.x', '.constructor']) {
    assert.equal(valueAt(object, none), undefined, none);
  }
});

const container = (state: object, more: object = {}) => ({ name: 'c', ready: false, restartCount: 0, state, ...more });
const running = container({ running: {} }, { ready: true });

function pod(status: object, more: { readonly metadata?: object; readonly spec?: object } = {}): AnyObject {
  return {
    metadata: { name: 'p', ...more.metadata },
    spec: { containers: [{ name: 'c' }], ...more.spec },
    status,
  } as AnyObject;
}

test('pods in the words of kubectl', () => {
  const inits = { spec: { initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }] } };
  const of = (one: AnyObject) => {
    const { ready, status, restarts } = podSummary(one, NOW);
    return [ready, status, restarts].join(' ');
  };
  assert.equal(of(pod({ phase: 'Pending' })), '0/1 Pending 0');
  assert.equal(of(pod({ phase: 'Running', containerStatuses: [running] })), '1/1 Running 0');
  const crashed = container(
    { waiting: { reason: 'CrashLoopBackOff' } },
    { restartCount: 3, lastState: { terminated: { finishedAt: '2026-01-01T11:58:30Z' } } },
  );
  assert.equal(of(pod({ phase: 'Running', containerStatuses: [crashed] })), '0/1 CrashLoopBackOff 3 (90s ago)');
  const ended = (terminated: object) => pod({ phase: 'Failed', containerStatuses: [container({ terminated })] });
  assert.equal(of(ended({ reason: 'Error', exitCode: 1 })), '0/1 Error 0');
  assert.equal(of(ended({ exitCode: 3 })), '0/1 ExitCode:3 0');
  assert.equal(of(ended({ signal: 9, exitCode: 137 })), '0/1 Signal:9 0');
  const going = { metadata: { deletionTimestamp: '2026-01-01T11:59:00Z' } };
  assert.equal(of(pod({ phase: 'Running', containerStatuses: [running] }, going)), '1/1 Terminating 0');
  const started = (...list: readonly object[]) => pod({ phase: 'Pending', initContainerStatuses: list }, inits);
  const first = (state: object) => container(state, { name: 'i' });
  assert.equal(of(started(first({ running: {} }))), '0/2 Init:0/2 0');
  assert.equal(of(started(first({ waiting: { reason: 'ErrImagePull' } }))), '0/2 Init:ErrImagePull 0');
  assert.equal(of(started(first({ terminated: { exitCode: 1, reason: 'Error' } }))), '0/2 Init:Error 0');
  const side = container({ running: {} }, { name: 's', ready: true, started: true });
  const done = first({ terminated: { exitCode: 0, reason: 'Completed' } });
  const whole = pod({ phase: 'Running', initContainerStatuses: [done, side], containerStatuses: [running] }, inits);
  assert.equal(of(whole), '2/2 Running 0');
});

test('columns line up, wide ones come when asked for, later rows stand below', () => {
  const pods = knownColumns(resource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }));
  assert.ok(pods);
  const one = pod(
    { phase: 'Running', podIP: '127.0.0.7', containerStatuses: [running] },
    { metadata: { name: 'web-0', namespace: 'ns', creationTimestamp: '2026-01-01T11:59:00Z' } },
  );
  const printer = new TablePrinter(layout, plain);
  assert.equal(
    printer.text(tableOf(pods, [one], NOW)),
    'NAME    READY   STATUS    RESTARTS   AGE\nweb-0   1/1     Running   0          60s\n',
  );
  assert.equal(printer.text(tableOf(pods, [one], NOW)), 'web-0   1/1     Running   0          60s\n');
  const wide = new TablePrinter({ isWide: true, withNamespace: true, prefix: 'pod/' }, plain);
  assert.match(
    wide.text(tableOf(pods, [one], NOW)),
    /^NAMESPACE .* IP .*NODE\nns +pod\/web-0 .* 127\.0\.0\.7 +<none>\n$/,
  );
});

test('a table of the server is taken as it is', () => {
  const table = serverTable({
    kind: 'Table',
    columnDefinitions: [{ name: 'Name' }, { name: 'Count' }, { name: 'Node', priority: 1 }],
    rows: [{ cells: ['a', 3, null], object: { metadata: { namespace: 'ns' } } }],
  });
  assert.ok(table);
  assert.equal(new TablePrinter(layout, plain).text(table), 'NAME    COUNT\na       3\n');
  assert.equal(table.rows[0]?.namespace, 'ns');
  assert.equal(serverTable({ kind: 'PodList', items: [] }), undefined);
});

test('custom kinds are shown as their definition wants it', () => {
  const definition = {
    metadata: { name: 'redisclusters.redis.reeve.dev' },
    spec: {
      versions: [
        {
          name: 'v1alpha1',
          additionalPrinterColumns: [
            { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
            { name: 'Slots', type: 'integer', jsonPath: '.status.slots', priority: 1 },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
        },
      ],
    },
  };
  const object = {
    metadata: { name: 'r', creationTimestamp: '2026-01-01T11:59:00Z' },
    status: { phase: 'Running', slots: 16384 },
  };
  const print = (columns: ReturnType<typeof customColumns>) =>
    new TablePrinter(layout, plain).text(tableOf(columns, [object], NOW));
  assert.equal(print(customColumns(definition, 'v1alpha1')), 'NAME    PHASE     AGE\nr       Running   60s\n');
  assert.equal(print(customColumns(definition, 'v2')), 'NAME    AGE\nr       60s\n');
  assert.equal(print(customColumns(undefined, 'v1')), 'NAME    AGE\nr       60s\n');
});

test('an event was last seen when its writer says so', () => {
  const event = (more: object): AnyObject => ({ metadata: { name: 'e', creationTimestamp: '1' }, ...more });
  assert.equal(eventTime(event({ lastTimestamp: '3', eventTime: '2' })), '3');
  assert.equal(eventTime(event({ lastTimestamp: null, eventTime: '2' })), '2');
  assert.equal(eventTime(event({ eventTime: '2', series: { lastObservedTime: '4' } })), '4');
  assert.equal(eventTime(event({})), '1');
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Clock } from '@reeve/runtime';
import type { ClusterView } from '../api/view.ts';
import { observeCluster } from './observe.ts';
import { VALKEY_INFO, VALKEY_NODES } from './samples.ts';
import { scriptedPort, serverWith, valkeyAnswers } from './scripted.ts';

const sources = join(import.meta.dirname, '..');
const table = readFileSync(join(import.meta.dirname, '../../../../docs/observed-fields.md'), 'utf8');

interface Row {
  readonly field: string;
  readonly command: string;
  readonly use: string;
  readonly file: string;
}

function rows(): readonly Row[] {
  return [...table.matchAll(/^\| `([^`]+)` \| (.+?) \| (.+?) \| `([^`]+)` \|$/gm)].map(
    ([, field = '', command = '', use = '', file = '']) => ({ field, command, use, file }),
  );
}

const clock: Clock = { now: () => 1, sleep: async () => undefined };
const SELF = '7a5d01460bc56bd75a5fc2cc204ed2af5edbaa15';
const OTHER = '660050d26b81333a9a62421719b51ec1cf4e5d59';

/** A view in which every field has a value: a primary with everything open and measured, a replica, a silent address. */
async function fullView(): Promise<ClusterView> {
  const open = VALKEY_NODES.replace(' 5000 [', ` 5000 [6000-<-${OTHER}] [`);
  const stats = ['key-count', 3, 'memory-bytes', 9, 'cpu-usec', 1, 'network-bytes-in', 1, 'network-bytes-out', 1];
  const job = ['name', 'n', 'operation', 'EXPORT', 'slot_ranges', '1', 'target_node', OTHER, 'source_node', SELF];
  const primary = serverWith({
    ...valkeyAnswers(open),
    'CLUSTER SLOT-STATS SLOTSRANGE': (args) => [[Number(args[3]), stats]],
    'CLUSTER GETSLOTMIGRATIONS': [[...job, 'state', 'snapshotting', 'message', 'm']],
    SELECT: 'OK',
  });
  const replicaTable = `${OTHER} 127.0.0.1:19375@29375 myself,slave ${SELF} 0 0 1 connected\n${SELF} 127.0.0.1:13615@23615 master - 0 0 1 connected 0-100`;
  const replica = serverWith({
    ...valkeyAnswers(replicaTable),
    INFO: VALKEY_INFO.replace('role:master', 'role:slave').replace('run_id:0', 'run_id:1'),
  });
  const port = scriptedPort({ '127.0.0.1:13615': primary, '127.0.0.1:19375': replica });
  const needs = {
    measureSlots: 'load',
    keysBeyondSlots: true,
    alsoAsk: [{ host: '10.9.9.9', port: 1 }],
  } as const;
  return observeCluster(port, { clock }, [{ host: '127.0.0.1', port: 13615 }], needs);
}

/** Parts that occur in several places, or have keys of their own, under one name. */
const NAMED: readonly [path: RegExp, name: string][] = [
  [/^nodes\[\]\.report\.atomicJobs\[\]/, 'job'],
  [/^nodes\[\]\.(?:report\.(?:self|others\[\])|heard\[\]\.line)/, 'line'],
  [/^nodes\[\]\.report\.slotMeasures\.#/, 'measure'],
  [/^nodes\[\]\.report/, 'report'],
];

/** Keys that are data: numbers of slots and databases, names of annotations. */
const DATA_KEYS = /^\d+$/;
const WHOLE = new Set([
  'nodes[].annotations',
  'report.keyspace',
  'nodes[].endpoint',
  'silent[].endpoint',
  'line.slots',
  'line.flags',
  'job.slots',
]);

function nameOf(path: string): string {
  for (const [pattern, name] of NAMED) if (pattern.test(path)) return path.replace(pattern, name);
  return path;
}

/** The path of every leaf; what is known or unknown stands for its value. */
function leaves(value: unknown, path: string, found: Set<string>): Set<string> {
  const name = nameOf(path);
  if (WHOLE.has(name) || value === null || typeof value !== 'object') return found.add(name);
  if (Array.isArray(value)) {
    for (const item of value) leaves(item, `${path}[]`, found);
    return found;
  }
  const entries = Object.entries(value);
  if ('known' in value) return 'value' in value ? leaves(value.value, path, found) : found.add(name);
  for (const [key, inner] of entries) {
    const step = DATA_KEYS.test(key) ? '#' : key;
    leaves(inner, path === '' ? step : `${path}.${step}`, found);
  }
  return found;
}

/** Parts that have a row of their own besides those of their fields. */
const PARTS = ['report.self', 'report.others', 'report.slotMeasures', 'report.atomicJobs', 'nodes[].heard[].line'];

test('every field that is observed has a row, and every row is a field', async () => {
  const observed = [...leaves(await fullView(), '', new Set()), ...PARTS].sort();
  const documented = rows()
    .map(({ field }) => field)
    .sort();
  assert.deepEqual(documented, observed);
});

test('every place named uses the field', () => {
  for (const { field, file } of rows()) {
    const name = field.split('.').at(-1)?.replace('[]', '') ?? '';
    const text = readFileSync(join(sources, file), 'utf8');
    assert.match(text, new RegExp(`\\b${name}\\b`), `${file} does not mention ${field}`);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDeleteOptions } from '../rest/delete.ts';
import { Refusal } from '../status/refusal.ts';
import { finalizerWarnings, validateMetadata } from './metadata.ts';
import { dnsSubdomain } from './names.ts';
import { dedupeOwners } from './owners.ts';

const owner = (name: string, uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid });

test('an owner that is named twice is kept once, and that is said', () => {
  const object = { metadata: { ownerReferences: [owner('a', '1'), owner('b', '1'), owner('a', '1')] } };
  const warnings = dedupeOwners(object, false);
  assert.deepEqual(object.metadata.ownerReferences, [owner('a', '1'), owner('b', '1')]);
  assert.match(warnings.join(), /please fix your requests; duplicate UID\(s\) observed: 1$/);
  assert.deepEqual(dedupeOwners(object, false), []);
});

test('two controllers are shown as the server writes owners', () => {
  const ownerReferences = ['a', 'b'].map((name) => ({ controller: true, ...owner(name, name) }));
  const [error] = validateMetadata({ name: 'x', namespace: 'n', ownerReferences }, true, dnsSubdomain);
  assert.match(
    error?.message ?? '',
    /^Invalid value: \[\{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"a","controller":true\},/,
  );
});

test('a new finalizer without a domain is warned of', () => {
  const old = { finalizers: ['old'] };
  assert.deepEqual(finalizerWarnings({ finalizers: ['old', 'x.io/y', 'orphan'] }, old), []);
  assert.match(
    finalizerWarnings({ finalizers: ['old', 'plain'] }, old).join(),
    /^metadata.finalizers: "plain": prefer /,
  );
});

test('options of a deletion of another sort are refused, not ignored', () => {
  const message = (options: object): string => {
    try {
      readDeleteOptions(JSON.stringify(options), new URLSearchParams());
      return '';
    } catch (error) {
      return error instanceof Refusal ? error.message : String(error);
    }
  };
  assert.equal(
    message({ gracePeriodSeconds: 'soon' }),
    'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
  );
  assert.match(message({ preconditions: { uid: 7 } }), /number into Go struct field DeleteOptions.preconditions.uid/);
  assert.equal(message({ gracePeriodSeconds: 1, preconditions: { uid: 'u' }, dryRun: ['All'] }), '');
});

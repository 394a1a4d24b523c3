import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@reeve/kube';
import { builtinTypes } from './builtin.ts';
import { fitOf } from './fit.ts';
import { typeOf } from './kind-types.ts';

const MOST = 9223372036854775807n;

/** What is wrong with an object of this kind. */
function problemOf(apiVersion: string, kind: string, object: { [key: string]: Json }): string | undefined {
  const types = builtinTypes(apiVersion, kind);
  const map = types && typeOf(types).map;
  assert.ok(map);
  return fitOf(object, map).problem;
}

const podProblem = (spec: Json) => problemOf('v1', 'Pod', { spec });
const portProblem = (port: Json) => podProblem({ containers: [{ ports: [port] }] });
const targetProblem = (targetPort: Json) => problemOf('v1', 'Service', { spec: { ports: [{ targetPort }] } });

test('integers are of the width that Go has for them', () => {
  const replicas = (given: Json) => problemOf('apps/v1', 'StatefulSet', { spec: { replicas: given } });
  const wrong = (sort: string) =>
    `json: cannot unmarshal ${sort} into Go struct field StatefulSetSpec.spec.replicas of type int32`;
  for (const good of [0, -1, 2147483647, -2147483648, null]) assert.equal(replicas(good), undefined, `${good}`);
  for (const bad of [1.5, 99999999999, 2147483648, -2147483649, -12345678901234567890n, 1e300]) {
    assert.equal(replicas(bad), wrong(`number ${bad}`));
  }
  assert.equal(replicas('3'), wrong('string'));
  assert.equal(replicas(true), wrong('bool'));
  assert.equal(replicas([1]), wrong('array'));
  assert.equal(
    portProblem({ containerPort: 1.5 }),
    'json: cannot unmarshal number 1.5 into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
  );
  for (const good of [MOST, -MOST - 1n, 9007199254740991]) {
    assert.equal(podProblem({ terminationGracePeriodSeconds: good }), undefined, `${good}`);
  }
  for (const bad of [MOST + 1n, -MOST - 2n, 0.5]) {
    assert.equal(
      podProblem({ terminationGracePeriodSeconds: bad }),
      `json: cannot unmarshal number ${bad} into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64`,
    );
  }
  assert.equal(
    podProblem({ securityContext: { supplementalGroups: [1, 1.5] } }),
    'json: cannot unmarshal number 1.5 into Go struct field PodSecurityContext.spec.securityContext.supplementalGroups of type int64',
  );
});

test('an integer or a text is one of them; a time is a text', () => {
  for (const good of [80, 'http', '80']) assert.equal(targetProblem(good), undefined, `${good}`);
  const wrong = (sort: string) =>
    `json: cannot unmarshal ${sort} into Go struct field ServicePort.spec.ports.targetPort of type int32`;
  assert.equal(targetProblem(1.5), wrong('number 1.5'));
  assert.equal(targetProblem(MOST), wrong(`number ${MOST}`));
  assert.equal(targetProblem(true), wrong('bool'));
  assert.equal(targetProblem({}), wrong('object'));
  assert.equal(
    problemOf('v1', 'Event', { firstTimestamp: 5 }),
    'json: cannot unmarshal number into Go struct field Event.firstTimestamp of type string',
  );
});

test('a quantity may be any number', () => {
  for (const good of [1, 1.5, MOST, '1Gi']) {
    assert.equal(podProblem({ containers: [{ resources: { limits: { memory: good } } }] }), undefined, `${good}`);
  }
});

/** Containers of pods and of templates. */
import { dnsLabel, dnsSubdomain } from '../object/names.ts';
import { configKey, envName, inRange, isMode, MODE, pathBelow, portName, portNumber } from './rules.ts';
import { checkFieldRef, checkResourceFieldRef } from './field-ref.ts';
import type { Part } from './part.ts';
import { checkLifecycle, checkProbes } from './probe.ts';
import { checkResources } from './resources.ts';

export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const RESTARTS = ['Always', 'Never', 'OnFailure'];
const MOST_ID = 2 ** 31 - 1;
const NO_PROBES = 'may not be set for init containers without restartPolicy=Always';

interface Surroundings {
  /** Names of volumes that are right. */
  readonly volumes: ReadonlySet<string>;
  /** Seconds that the pod has to end. */
  readonly grace: number | bigint;
}

export function checkContainers(spec: Part, around: Surroundings): void {
  const containers = spec.list('containers');
  if (containers.length === 0) spec.missing('containers');
  const names = new Set<string>();
  for (const container of containers) {
    checkContainer(container, around);
    once(container, names);
    checkLifecycle(container, around.grace);
    checkProbes(container, around.grace);
    if (container.has('restartPolicy')) container.oneOf('restartPolicy', RESTARTS);
  }
  checkHostPorts(containers);
  for (const container of spec.list('initContainers')) {
    checkContainer(container, around);
    if (container.has('restartPolicy')) container.oneOf('restartPolicy', RESTARTS);
    once(container, names);
    checkHostPorts([container]);
    if (container.object.restartPolicy === 'Always') {
      checkLifecycle(container, around.grace);
      checkProbes(container, around.grace);
    } else {
      for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
        if (container.has(field)) container.forbid(field, NO_PROBES);
      }
    }
  }
}

function once(container: Part, names: Set<string>): void {
  const name = container.text('name');
  if (names.has(name)) container.duplicate('name', name);
  names.add(name);
}

function checkContainer(container: Part, { volumes }: Surroundings): void {
  if (container.needs('name')) container.named('name', dnsLabel);
  container.needs('image');
  container.oneOf('terminationMessagePolicy', ['File', 'FallbackToLogsOnError']);
  checkPorts(container);
  for (const env of container.list('env')) checkEnv(env);
  for (const from of container.list('envFrom')) checkEnvFrom(from, container);
  checkMounts(container, volumes);
  container.oneOf('imagePullPolicy', ['Always', 'IfNotPresent', 'Never']);
  checkResources(container.within('resources'));
  for (const context of container.maybe('securityContext')) checkIds(context, ['runAsUser', 'runAsGroup']);
}

export function checkIds(context: Part, fields: readonly string[]): void {
  for (const field of fields) {
    if (context.has(field)) context.wrong(field, context.object[field], ...inRange(context.number(field), 0, MOST_ID));
  }
}

function checkPorts(container: Part): void {
  const names = new Set<string>();
  for (const port of container.list('ports')) {
    const name = port.text('name');
    if (name !== '') {
      const problems = portName(name);
      port.wrong('name', name, ...problems);
      if (problems.length === 0 && names.has(name)) port.duplicate('name', name);
      if (problems.length === 0) names.add(name);
    }
    const number = port.number('containerPort');
    if (number === 0) port.missing('containerPort');
    else port.wrong('containerPort', number, ...portNumber(number));
    if (port.number('hostPort') !== 0)
      port.wrong('hostPort', port.number('hostPort'), ...portNumber(port.number('hostPort')));
    port.oneOf('protocol', PROTOCOLS);
  }
}

/** A port of a node can be had once. */
function checkHostPorts(containers: readonly Part[]): void {
  const taken = new Set<string>();
  for (const port of containers.flatMap((container) => container.list('ports'))) {
    if (port.number('hostPort') === 0) continue;
    const held = `${port.text('protocol')}/${port.text('hostIP')}/${port.number('hostPort')}`;
    if (taken.has(held)) port.duplicate('hostPort', held);
    taken.add(held);
  }
}

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

function checkEnv(env: Part): void {
  if (env.needs('name')) env.wrong('name', env.text('name'), ...envName(env.text('name')));
  for (const from of env.maybe('valueFrom')) {
    const given = SOURCES.filter((source) => from.has(source));
    for (const ref of from.maybe('fieldRef')) checkFieldRef(ref, 'env');
    for (const ref of from.maybe('resourceFieldRef')) checkResourceFieldRef(ref, false);
    for (const ref of [...from.maybe('configMapKeyRef'), ...from.maybe('secretKeyRef')]) {
      ref.wrong('name', ref.text('name'), ...dnsSubdomain(ref.text('name'), false));
      if (ref.needs('key')) ref.wrong('key', ref.text('key'), ...configKey(ref.text('key')));
    }
    if (given.length === 0) {
      const all = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
      env.wrong('valueFrom', '', `must specify one of: ${all}`);
    } else if (env.text('value') !== '') {
      env.wrong('valueFrom', '', 'may not be specified when `value` is not empty');
    } else if (given.length > 1) {
      env.wrong('valueFrom', '', 'may not have more than one field specified at a time');
    }
  }
}

function checkEnvFrom(from: Part, container: Part): void {
  if (from.text('prefix') !== '') from.wrong('prefix', from.text('prefix'), ...envName(from.text('prefix')));
  const given = [...from.maybe('configMapRef'), ...from.maybe('secretRef')];
  for (const ref of given) ref.wrong('name', ref.text('name'), ...dnsSubdomain(ref.text('name'), false));
  if (given.length === 0) container.wrong('envFrom', '', 'must specify one of: `configMapRef` or `secretRef`');
  if (given.length > 1) container.wrong('envFrom', '', 'may not have more than one field specified at a time');
}

function checkMounts(container: Part, volumes: ReadonlySet<string>): void {
  const paths = new Set<string>();
  for (const mount of container.list('volumeMounts')) {
    const [name, path] = [mount.text('name'), mount.text('mountPath')];
    mount.needs('name');
    if (!volumes.has(name)) mount.unknown('name', name);
    mount.needs('mountPath');
    if (paths.has(path)) mount.wrong('mountPath', path, 'must be unique');
    paths.add(path);
    const [below, expression] = [mount.text('subPath'), mount.text('subPathExpr')];
    // The real server forgets which of the mounts it was.
    if (below !== '') container.wrong('volumeMounts.subPath', below, ...pathBelow(below));
    if (expression === '') continue;
    if (below !== '') mount.wrong('subPathExpr', expression, 'subPathExpr and subPath are mutually exclusive');
    container.wrong('volumeMounts.subPathExpr', expression, ...pathBelow(expression));
  }
}

/** Of files that are put into a volume. */
export function checkMode(part: Part, field: string): void {
  if (part.has(field) && !isMode(part.number(field))) part.wrong(field, part.number(field), MODE);
}

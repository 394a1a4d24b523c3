/** What is odd about pods and pod templates, but not wrong. */
import { type Draft, integerOf, type JsonObject, numberOf, objectOf, textOf } from '../object/draft.ts';
import { dnsLabel } from '../object/names.ts';
import { selectable } from '../kinds/kind.ts';
import { child } from '../status/field-error.ts';
import { claimSpecWarnings } from './claim.ts';
import { Part } from './part.ts';
import { isWhole } from './resources.ts';

const NO_MATCH = 'a null labelSelector results in matching no pod';

/** Only new ones: who changes pods is a program. */
export function podWarnings(pod: Draft, old: Draft | undefined): readonly string[] {
  if (old !== undefined) return [];
  const name = textOf(pod.metadata.name);
  const why = "this is used in the Pod's hostname";
  return [...nameWarnings(name, why), ...templateWarnings(pod, '')];
}

/** Of deployments and the like, whose names become parts of the names of their pods. */
export function workloadWarnings(object: Draft, old: Draft | undefined): readonly string[] {
  const why = 'this is used in Pod names and hostnames';
  return [
    ...(old === undefined ? nameWarnings(textOf(object.metadata.name), why) : []),
    ...changedTemplate(object, old),
  ];
}

export function statefulSetWarnings(set: Draft, old: Draft | undefined): readonly string[] {
  const spec = objectOf(set.spec);
  const claims = new Part(set).within('spec').list('volumeClaimTemplates');
  const where = old === undefined ? '' : '.Spec';
  const negative = 'a negative value retains all historical revisions; a value >= 0 is recommended';
  return [
    ...changedTemplate(set, old),
    ...claims.flatMap(({ object, path }) => claimSpecWarnings(objectOf(object.spec), `${path}${where}`)),
    ...((numberOf(spec.revisionHistoryLimit) ?? 0) < 0 ? [`spec.revisionHistoryLimit: ${negative}`] : []),
  ];
}

function changedTemplate(object: Draft, old: Draft | undefined): readonly string[] {
  if (old !== undefined && object.metadata.generation === old.metadata.generation) return [];
  return templateWarnings(objectOf(objectOf(object.spec).template), 'spec.template');
}

function nameWarnings(name: string, why: string): readonly string[] {
  const problems = dnsLabel(name, false);
  if (problems.length === 0) return [];
  const how = 'which can result in surprising behavior; a DNS label is recommended';
  return [`metadata.name: ${why}, ${how}: [${problems.join(' ')}]`];
}

function templateWarnings(template: JsonObject, path: string): readonly string[] {
  const spec = new Part(objectOf(template.spec), child(path, 'spec'));
  const containers = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) => spec.list(field));
  const grace = integerOf(spec.object.terminationGracePeriodSeconds) ?? 0;
  const negative = 'must be >= 0; negative values are invalid and will be treated as 1';
  return [
    ...spec.list('topologySpreadConstraints').flatMap(unselective),
    ...spec.list('volumes').flatMap(({ object, path: at }) => {
      const claim = objectOf(objectOf(object.ephemeral).volumeClaimTemplate);
      return claimSpecWarnings(objectOf(claim.spec), `${at}.ephemeral.volumeClaimTemplate.spec`);
    }),
    ...repeated(spec.list('hostAliases'), 'ip'),
    ...repeated(spec.list('imagePullSecrets'), 'name'),
    ...containers.flatMap((container) => [...fractions(container), ...hiddenEnv(container)]),
    ...portWarnings(containers),
    ...portNameWarnings(containers),
    ...(grace < 0 ? [`${spec.at('terminationGracePeriodSeconds')}: ${negative}`] : []),
    ...affinityWarnings(spec),
  ];
}

const unselective = (part: Part): readonly string[] =>
  part.has('labelSelector') ? [] : [`${part.at('labelSelector')}: ${NO_MATCH}`];

function repeated(items: readonly Part[], field: string): readonly string[] {
  const seen = new Set<string>();
  return items.flatMap((item) => {
    const value = item.text(field);
    if (seen.has(value)) return [`${item.at(field)}: duplicate ${field} ${JSON.stringify(value)}`];
    seen.add(value);
    return [];
  });
}

function fractions(container: Part): readonly string[] {
  return ['memory', 'ephemeral-storage'].flatMap((name) =>
    ['limits', 'requests'].flatMap((field) => {
      const value = objectOf(container.within('resources').object[field])[name];
      if (value === undefined || isWhole(value)) return [];
      const shown = JSON.stringify(selectable(value));
      const at = container.at(`resources.${field}[${name}]`);
      return [`${at}: fractional byte value ${shown} is invalid, must be an integer`];
    }),
  );
}

/** A second value that is not made of the first one hides it. */
function hiddenEnv(container: Part): readonly string[] {
  const seen = new Set<string>();
  return container.list('env').flatMap((env) => {
    const [name, value] = [env.text('name'), env.text('value')];
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const ref = `$(${name})`;
    if (!env.has('valueFrom') && value !== ref && value.includes(ref)) return [];
    return [`${env.path}: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`];
  });
}

function portWarnings(containers: readonly Part[]): readonly string[] {
  const known = new Map<string, Part[]>();
  return containers
    .flatMap((container) => container.list('ports'))
    .flatMap((port) => {
      const key = `${port.number('containerPort')}/${port.text('protocol')}`;
      const others = known.get(key) ?? [];
      known.set(key, [...others, port]);
      return others.flatMap((other) => {
        const how = overlap(port, other);
        return how === undefined ? [] : [`${port.path}: ${how} port definition with ${other.path}`];
      });
    });
}

function overlap(port: Part, other: Part): string | undefined {
  const [one, two] = [port.number('hostPort'), other.number('hostPort')];
  const [ip, otherIp] = [port.text('hostIP'), other.text('hostIP')];
  if (ip === otherIp && one === two) return 'duplicate';
  if (one === 0 || two === 0) return 'overlapping';
  return one === two && (ip === '') !== (otherIp === '') ? 'dangerously ambiguous' : undefined;
}

function portNameWarnings(containers: readonly Part[]): readonly string[] {
  const known = new Map<string, string>();
  return containers
    .flatMap((container) => container.list('ports'))
    .flatMap((port) => {
      const name = port.text('name');
      const other = known.get(name);
      if (other === undefined) known.set(name, port.path);
      if (name === '' || other === undefined) return [];
      const choice = `services and probes that select ports by name will use ${other}`;
      return [`${port.path}: duplicate port name ${JSON.stringify(name)} with ${other}, ${choice}`];
    });
}

function affinityWarnings(spec: Part): readonly string[] {
  const affinity = spec.within('affinity');
  return [...affinity.maybe('podAffinity'), ...affinity.maybe('podAntiAffinity')].flatMap((pods) => [
    ...pods.list('requiredDuringSchedulingIgnoredDuringExecution').flatMap(unselective),
    ...pods
      .list('preferredDuringSchedulingIgnoredDuringExecution')
      .flatMap((preferred) => unselective(preferred.within('podAffinityTerm'))),
  ]);
}

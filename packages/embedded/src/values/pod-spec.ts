/** What pods and pod templates have in common. */
import { objectOf } from '../object/draft.ts';
import { dnsLabel, dnsSubdomain, labelValueProblems, qualifiedName } from '../object/names.ts';
import { checkContainers, checkIds } from './container.ts';
import type { Part } from './part.ts';
import { annotationErrors, inRange, ipAddress, labelErrors } from './rules.ts';
import { checkSelector } from './selector.ts';
import { checkVolumes } from './volume.ts';

const MOST = 2 ** 31 - 1;
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** @param isPod and not a template. */
export function checkPodSpec(spec: Part, isPod: boolean): void {
  const volumes = checkVolumes(spec);
  checkContainers(spec, { volumes, grace: spec.number('terminationGracePeriodSeconds') });
  checkHostNetwork(spec, isPod);
  spec.oneOf('restartPolicy', ['Always', 'OnFailure', 'Never']);
  spec.oneOf('dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']);
  spec.note(...labelErrors(objectOf(spec.object.nodeSelector), spec.at('nodeSelector')));
  for (const context of spec.maybe('securityContext')) checkIds(context, ['fsGroup', 'runAsUser', 'runAsGroup']);
  checkAffinity(spec);
  for (const gate of spec.list('readinessGates')) {
    gate.wrong('conditionType', gate.text('conditionType'), ...qualifiedName(gate.text('conditionType')));
  }
  for (const constraint of spec.list('topologySpreadConstraints')) checkSpread(constraint);
  spec.named('serviceAccountName', dnsSubdomain);
  spec.named('nodeName', dnsSubdomain);
  if (spec.has('activeDeadlineSeconds')) {
    const seconds = spec.number('activeDeadlineSeconds');
    spec.wrong('activeDeadlineSeconds', seconds, ...inRange(seconds, 1, MOST));
  }
  spec.named('hostname', dnsLabel);
  spec.named('subdomain', dnsLabel);
  for (const toleration of spec.list('tolerations')) checkToleration(toleration);
  for (const alias of spec.list('hostAliases')) {
    alias.wrong('ip', alias.text('ip'), ...ipAddress(alias.text('ip')));
    for (const [index, name] of alias.texts('hostnames').entries()) {
      alias.wrong(`hostnames[${index}]`, name, ...dnsSubdomain(name, false));
    }
  }
  spec.named('priorityClassName', dnsSubdomain);
  if (spec.has('preemptionPolicy')) spec.oneOf('preemptionPolicy', ['PreemptLowerPriority', 'Never']);
}

export function checkTemplateMetadata(template: Part): void {
  const { labels, annotations } = objectOf(template.object.metadata);
  template.note(...labelErrors(objectOf(labels), template.at('labels')));
  template.note(...annotationErrors(objectOf(annotations), template.at('annotations')));
}

export function checkTemplate(template: Part): void {
  checkTemplateMetadata(template);
  checkPodSpec(template.within('spec'), false);
  if (template.within('spec').list('ephemeralContainers').length > 0) {
    template.forbid('spec.ephemeralContainers', 'ephemeral containers not allowed in pod template');
  }
}

function checkHostNetwork(spec: Part, isPod: boolean): void {
  if (spec.object.hostNetwork !== true) return;
  for (const port of spec.list('containers').flatMap((container) => container.list('ports'))) {
    const host = port.number('hostPort');
    if ((isPod || host !== 0) && host !== port.number('containerPort')) {
      port.wrong('hostPort', host, 'must match `containerPort` when `hostNetwork` is true');
    }
  }
}

export function checkToleration(toleration: Part): void {
  const { operator = '', value = '', effect = '' } = toleration.object as Readonly<Record<string, string>>;
  const key = toleration.text('key');
  if (key !== '') toleration.wrong('key', key, ...qualifiedName(key));
  else if (operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    toleration.wrong('operator', operator, detail);
  }
  if (toleration.has('tolerationSeconds') && effect !== 'NoExecute') {
    toleration.wrong('effect', effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (operator === '' || operator === 'Equal') {
    const problems = labelValueProblems(value);
    if (problems.length > 0) toleration.wrong('operator', value, problems.join(';'));
  } else if (operator === 'Exists') {
    if (value !== '') toleration.wrong('operator', value, "value must be empty when `operator` is 'Exists'");
  } else toleration.unsupported('operator', operator, ['Equal', 'Exists']);
  if (effect !== '' && !EFFECTS.includes(effect)) toleration.unsupported('effect', effect, EFFECTS);
}

function checkSpread(constraint: Part): void {
  if (constraint.number('maxSkew') <= 0) {
    constraint.wrong('maxSkew', constraint.number('maxSkew'), 'must be greater than zero');
  }
  if (constraint.text('topologyKey') === '') constraint.missing('topologyKey', 'can not be empty');
  const actions = ['DoNotSchedule', 'ScheduleAnyway'];
  const action = constraint.text('whenUnsatisfiable');
  if (!actions.includes(action)) constraint.unsupported('whenUnsatisfiable', action, actions);
  for (const selector of constraint.maybe('labelSelector')) checkSelector(selector);
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function checkAffinity(spec: Part): void {
  for (const affinity of spec.maybe('affinity')) {
    for (const pods of [...affinity.maybe('podAffinity'), ...affinity.maybe('podAntiAffinity')]) {
      for (const term of pods.list(REQUIRED)) checkTerm(term);
      for (const preferred of pods.list(PREFERRED)) {
        preferred.wrong('weight', preferred.number('weight'), ...weightProblems(preferred));
        checkTerm(preferred.within('podAffinityTerm'));
      }
    }
  }
}

const weightProblems = (preferred: Part): readonly string[] =>
  inRange(preferred.number('weight'), 1, 100).map(() => 'must be in the range 1-100');

function checkTerm(term: Part): void {
  for (const selector of [...term.maybe('labelSelector'), ...term.maybe('namespaceSelector')]) checkSelector(selector);
  for (const name of term.texts('namespaces')) term.wrong('namespace', name, ...dnsLabel(name, false));
  const key = term.text('topologyKey');
  if (key === '') term.missing('topologyKey', 'can not be empty');
  term.wrong('topologyKey', key, ...qualifiedName(key));
}

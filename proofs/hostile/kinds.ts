/** What the server is given before it is attacked: a custom kind with rules, and a policy that would never end. */
import { definitionOf } from '@reeve/rig';
import type { Sent } from './server.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
export const MAPS = '/api/v1/namespaces/default/configmaps';
export const SECRETS = '/api/v1/namespaces/default/secrets';
export const WIDGETS = '/apis/hostile.reeve.dev/v1/namespaces/default/widgets';

/** Every level multiplies the work by twenty: 20^8 steps. */
function nested(depth: number): string {
  const list = `[${Array.from({ length: 20 }, (_, at) => at).join()}]`;
  return depth === 0 ? 'true' : `${list}.all(x${depth}, ${nested(depth - 1)})`;
}
export const RUNAWAY = nested(8);

export function definition(name: string, rules: readonly object[], spec: object = {}): object {
  return definitionOf({
    group: 'hostile.reeve.dev',
    kind: name.replace(/^./, (first) => first.toUpperCase()),
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            size: { type: 'integer', minimum: 0, maximum: 100 },
            // With an engine that tries again and again this takes longer than the world has been there.
            word: { type: 'string', pattern: '^(a+)+$', maxLength: 100_000 },
            ...spec,
          },
          'x-kubernetes-validations': rules,
        },
      },
    },
  });
}

const json = (path: string, body: object): Sent => ({ method: 'POST', path, body: JSON.stringify(body) });

/** A config map that nothing deletes. */
export const TARGET = 'target';

export const preparation: readonly Sent[] = [
  json(MAPS, { metadata: { name: TARGET }, data: {} }),
  json(DEFINITIONS, definition('widget', [{ rule: '!has(self.size) || self.size != 13', message: 'not thirteen' }])),
  json(`${ADMISSION}/validatingadmissionpolicies`, {
    metadata: { name: 'runaway' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
      },
      validations: [{ expression: RUNAWAY }],
    },
  }),
  json(`${ADMISSION}/validatingadmissionpolicybindings`, {
    metadata: { name: 'runaway' },
    spec: { policyName: 'runaway', validationActions: ['Deny'] },
  }),
];

/** A definition that must be refused: its rule could cost more than a request may. */
export const runawayDefinition: Sent = json(
  DEFINITIONS,
  definition('runaway', [{ rule: 'self.items.all(x, self.items.all(y, self.items.all(z, x + y + z != "")))' }], {
    items: { type: 'array', items: { type: 'string' } },
  }),
);

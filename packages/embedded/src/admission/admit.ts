/** Admission by policy: all policies and bindings, one request, and the answer. */
import type { Status } from '@reeve/kube';
import type { CheckAccess } from '../cel/library/authorizer.ts';
import { failure } from '../status/status.ts';
import type { CompiledPolicy } from './compiled-policy.ts';
import { evaluatePolicy } from './evaluation.ts';
import { matches } from './match.ts';
import { collectParams, type ParamLookup } from './params.ts';
import type { ValidatingAdmissionPolicyBinding } from './policy.ts';
import { type AdmissionRequest, nameForMessage } from './request.ts';

export interface AdmissionPorts {
  /** Where parameters come from. */
  readonly params: ParamLookup;
  /** Answers `authorizer` in expressions. */
  readonly authorize: CheckAccess;
}

export interface Admission {
  /** Absent when the request may go on. */
  readonly denied?: Status;
  /** For the Warning headers of the answer. */
  readonly warnings: readonly string[];
}

interface Refusal {
  readonly policy: string;
  readonly binding?: string;
  readonly message: string;
  readonly reason?: string | undefined;
}

/** Policies are not asked about themselves: nobody could mend a wrong one. */
const exempt = [
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
];

export function admit(
  policies: Iterable<CompiledPolicy>,
  bindings: readonly ValidatingAdmissionPolicyBinding[],
  request: AdmissionRequest,
  ports: AdmissionPorts,
): Admission {
  const { group, resource } = request.resource;
  if (group === 'admissionregistration.k8s.io' && exempt.includes(resource)) return { warnings: [] };
  const warnings: string[] = [];
  const refusals: Refusal[] = [];
  for (const policy of policies) {
    const name = policy.source.metadata.name ?? '';
    const own = bindings.filter(({ spec }) => spec.policyName === name);
    refusals.push(...askPolicy(policy, own, request, ports, warnings));
  }
  const [first] = refusals;
  return first ? { denied: statusOf(first, request), warnings } : { warnings };
}

function askPolicy(
  policy: CompiledPolicy,
  bindings: readonly ValidatingAdmissionPolicyBinding[],
  request: AdmissionRequest,
  ports: AdmissionPorts,
  warnings: string[],
): readonly Refusal[] {
  const { metadata, spec } = policy.source;
  const name = metadata.name ?? '';
  if (bindings.length === 0) return [];
  const isFatal = spec.failurePolicy !== 'Ignore';
  const match = spec.matchConstraints
    ? matches(spec.matchConstraints, request)
    : { problem: 'policy contained no match constraints, a required field' };
  if (!match) return [];
  if ('problem' in match) {
    return isFatal ? [{ policy: name, message: `failed to configure policy: ${match.problem}` }] : [];
  }
  return bindings.flatMap((binding) => {
    const bindingName = binding.metadata.name ?? '';
    const misconfigured = (problem: string): readonly Refusal[] =>
      isFatal ? [{ policy: name, binding: bindingName, message: `failed to configure binding: ${problem}` }] : [];
    const bound = binding.spec.matchResources ? matches(binding.spec.matchResources, request) : match;
    if (!bound) return [];
    if ('problem' in bound) return misconfigured(bound.problem);
    const params = collectParams(spec.paramKind, binding, request.namespace, ports.params);
    if (typeof params === 'string') return misconfigured(params);
    const decisions = params
      .flatMap((param) => evaluatePolicy(policy, { request, match, params: param, authorize: ports.authorize }))
      .filter(({ isFailure }) => isFatal || !isFailure);
    return decisions.flatMap(({ message, reason }) => {
      const actions = binding.spec.validationActions ?? [];
      if (actions.includes('Warn')) {
        const which = `ValidatingAdmissionPolicy '${name}' with binding '${bindingName}'`;
        warnings.push(`Validation failed for ${which}: ${message}`);
      }
      return actions.includes('Deny') ? [{ policy: name, binding: bindingName, message, reason }] : [];
    });
  });
}

const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

function statusOf({ policy, binding, message, reason = 'Invalid' }: Refusal, request: AdmissionRequest): Status {
  const which = binding === undefined ? '' : ` with binding '${binding}'`;
  const text = `ValidatingAdmissionPolicy '${policy}'${which} denied request: ${message}`;
  const { group, resource } = request.resource;
  const name = nameForMessage(request);
  const qualified = group === '' ? resource : `${resource}.${group}`;
  return failure(codes[reason] ?? 422, reason, `${qualified} "${name}" is forbidden: ${text}`, {
    name,
    ...(group === '' ? {} : { group }),
    kind: resource,
    causes: [{ message: text }],
  });
}

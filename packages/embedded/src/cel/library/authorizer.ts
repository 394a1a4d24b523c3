/** `authorizer.group('apps').resource('deployments').check('create').allowed()`, answered by a port. */
import { method, type Overload } from '../function.ts';
import { BOOL, type CelType, objectOf, STRING } from '../type.ts';
import { Opaque, type Value } from '../value.ts';

/** What is asked for. Either a path, or a resource with all that belongs to it. */
export interface AccessQuestion {
  readonly verb: string;
  readonly path?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Asks for this service account instead of the one who made the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
}

export interface AccessAnswer {
  readonly allowed: boolean;
  readonly reason?: string;
  readonly error?: string;
}

/** The port: may the user of the request do this? */
export type CheckAccess = (question: AccessQuestion) => AccessAnswer;

const typeNamed = (name: string): CelType => objectOf(`kubernetes.authorization.${name}`);
export const AUTHORIZER = typeNamed('Authorizer');
const PATH_CHECK = typeNamed('PathCheck');
const GROUP_CHECK = typeNamed('GroupCheck');
export const RESOURCE_CHECK = typeNamed('ResourceCheck');
const DECISION = typeNamed('Decision');

/** A question that is not complete yet. */
export class Question extends Opaque {
  override readonly typeName: string;
  readonly authorize: CheckAccess;
  readonly parts: Omit<AccessQuestion, 'verb'>;

  constructor(type: CelType, authorize: CheckAccess, parts: Omit<AccessQuestion, 'verb'> = {}) {
    super();
    this.typeName = type.name;
    this.authorize = authorize;
    this.parts = parts;
  }

  override equals(other: Opaque): boolean {
    return other instanceof Question && JSON.stringify(other.parts) === JSON.stringify(this.parts);
  }
}

class Decision extends Opaque {
  override readonly typeName = DECISION.name;
  readonly answer: AccessAnswer;

  constructor(answer: AccessAnswer) {
    super();
    this.answer = answer;
  }

  override equals(other: Opaque): boolean {
    return other instanceof Decision && JSON.stringify(other.answer) === JSON.stringify(this.answer);
  }
}

/** A method that adds one part to the question. */
function adds(name: keyof AccessQuestion, id: string, from: CelType, to: CelType): Overload {
  return method(name, id, [from, STRING], to, ([question, part]) => {
    const { authorize, parts } = question as Question;
    return new Question(to, authorize, { ...parts, [name]: part as string });
  });
}

function check(id: string, from: CelType): Overload {
  return method('check', id, [from, STRING], DECISION, ([question, verb]) => {
    const { authorize, parts } = question as Question;
    return new Decision(authorize({ ...parts, verb: verb as string }));
  });
}

function tells(name: string, result: CelType, read: (answer: AccessAnswer) => Value): Overload {
  return method(name, `decision_${name}`, [DECISION], result, ([decision]) => read((decision as Decision).answer));
}

export const authorizer: readonly Overload[] = [
  adds('path', 'authorizer_path', AUTHORIZER, PATH_CHECK),
  adds('group', 'authorizer_group', AUTHORIZER, GROUP_CHECK),
  method('serviceAccount', 'authorizer_serviceaccount', [AUTHORIZER, STRING, STRING], AUTHORIZER, (args) => {
    const [question, namespace, name] = args as readonly [Question, string, string];
    return new Question(AUTHORIZER, question.authorize, { serviceAccount: { namespace, name } });
  }),
  adds('resource', 'groupcheck_resource', GROUP_CHECK, RESOURCE_CHECK),
  adds('subresource', 'resourcecheck_subresource', RESOURCE_CHECK, RESOURCE_CHECK),
  adds('namespace', 'resourcecheck_namespace', RESOURCE_CHECK, RESOURCE_CHECK),
  adds('name', 'resourcecheck_name', RESOURCE_CHECK, RESOURCE_CHECK),
  adds('fieldSelector', 'resourcecheck_fieldselector', RESOURCE_CHECK, RESOURCE_CHECK),
  adds('labelSelector', 'resourcecheck_labelselector', RESOURCE_CHECK, RESOURCE_CHECK),
  check('pathcheck_check', PATH_CHECK),
  check('resourcecheck_check', RESOURCE_CHECK),
  tells('allowed', BOOL, ({ allowed }) => allowed),
  tells('reason', STRING, ({ reason }) => reason ?? ''),
  tells('errored', BOOL, ({ error }) => error !== undefined),
  tells('error', STRING, ({ error }) => error ?? ''),
];

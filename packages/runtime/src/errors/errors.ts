/**
 * Errors with a stable code. Every code is declared once with `errorCodes`, with what it means and what to do;
 * docs/errors.md is generated from those declarations.
 */
export interface ErrorDescription {
  readonly meaning: string;
  readonly remedy: string;
}

export type ErrorCatalog = Readonly<Record<string, ErrorDescription>>;

export class ReeveError extends Error {
  readonly code: string;
  /** The objects the error is about: addresses, node ids, file names. */
  readonly subjects: readonly string[];

  constructor(code: string, message: string, options: { subjects?: readonly string[]; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ReeveError';
    this.code = code;
    this.subjects = options.subjects ?? [];
  }
}

/**
 * Any thrown thing as a ReeveError; what is not one of ours becomes INTERNAL. The client's errors have the same shape and another
 * class (docs/designs/0004-kube-client.md): they keep their code.
 */
export function asReeveError(error: unknown): ReeveError {
  if (error instanceof ReeveError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (!hasShape(error)) return new ReeveError('INTERNAL', message, { cause: error });
  return new ReeveError(error.code, message, { subjects: error.subjects, cause: error });
}

/** Codes of the system (ENOENT) have no subjects, so they are not taken for ours. */
function hasShape(error: unknown): error is Error & { readonly code: string; readonly subjects: readonly string[] } {
  if (!(error instanceof Error)) return false;
  const { code, subjects } = error as { code?: unknown; subjects?: unknown };
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code) && Array.isArray(subjects);
}

export const runtimeErrors = {
  INTERNAL: {
    meaning: 'Something threw that should not have: a bug of Reeve.',
    remedy: 'Report it with the message and, if there is one, the journal file.',
  },
  HANDLER_TWICE: {
    meaning: 'Two handlers were registered for one command type.',
    remedy: 'Register exactly one handler for each command type.',
  },
  HANDLER_MISSING: {
    meaning: 'No handler is registered for a command type that a plan produced.',
    remedy: 'Register exactly one handler for each command type.',
  },
  HANDLER_TIMEOUT: {
    meaning: 'A handler gave neither an outcome nor a handle in the time given; what it did is not known.',
    remedy: 'Look what it waits for. Long work must return a handle.',
  },
  FOLLOW_UP_DEPTH: {
    meaning: 'Follow-up commands led to further ones, deeper than is allowed. What was done before stays done.',
    remedy: 'Let the next plan decide what follows.',
  },
  TASK_UNKNOWN: {
    meaning: 'A task asks for something that this version does not know.',
    remedy: 'Correct the task, or upgrade Reeve.',
  },
  TASK_NO_MEMBERS: {
    meaning: 'A task found no member to work on.',
    remedy: 'Look whether the cluster it names is there and has members.',
  },
  TASK_STEP_STALE: {
    meaning: 'The world changed again and again under a step of a task, so that it could never be carried out.',
    remedy: 'The message names the member and the reason. Mend that and create the task again.',
  },
  MEMBER_REPORT_SIZE: {
    meaning: 'What an agent was about to report of its node is larger than 2 KB.',
    remedy: 'Report facts, and of large views a digest only.',
  },
  ORDER_FENCED: {
    meaning: 'An order came from a manager that no longer leads.',
    remedy: 'Nothing: the manager that leads decides anew.',
  },
  ORDER_DEADLINE: {
    meaning: 'An order took longer than it was given.',
    remedy: 'Look at the node. The next plan decides whether there is another attempt.',
  },
  ORDER_NOT_DONE: {
    meaning: 'An agent crashed while it carried out an order, and its effect is not in the world.',
    remedy: 'Nothing: the next plan decides whether there is another attempt.',
  },
  ORDER_UNKNOWN: {
    meaning: 'An agent crashed while it carried out an order, and whether its effect is in the world cannot be told.',
    remedy: 'Look at the node, then ask for it again.',
  },
  ORDER_POD_REPLACED: {
    meaning: 'An order was for a pod that is no longer there; another one has its name.',
    remedy: 'Nothing: what the new pod needs is planned anew.',
  },
  ORDER_CANCELLED: {
    meaning: 'An order was cancelled before or while it was carried out.',
    remedy: 'Nothing.',
  },
  ORDER_VERB_UNKNOWN: {
    meaning: 'A member’s agent does not announce that it can carry out this order: it is older, or of another system.',
    remedy: 'Upgrade the agent.',
  },
  QUEUE_OPTIONS: {
    meaning: 'A queue was described with lanes or a backoff that cannot work.',
    remedy: 'Correct what the message names; a queue without backoff is not offered.',
  },
  QUEUE_LANE_UNKNOWN: {
    meaning: 'A key was added to a lane that its queue does not have.',
    remedy: 'Name the lane in the options of the queue.',
  },
  QUEUE_ROUTE_UNKNOWN: {
    meaning: 'A key was routed to, or a worker asked for, a type of worker that its queue does not know.',
    remedy: 'Name every route in the options of the queue: a route without workers would keep its keys for ever.',
  },
  QUEUE_NOT_TAKEN: {
    meaning: 'A key was given back to a queue by somebody who did not have it.',
    remedy: 'Call done exactly once for each key that was taken.',
  },
  CACHE_UNSCOPED: {
    meaning: 'A cache of all objects of a heavy kind (Pods, Secrets, Events …) in all namespaces was about to be made.',
    remedy: 'Name a namespace or a selector, or say `unscoped: true` if it is meant.',
  },
  CACHE_INDEX_UNKNOWN: {
    meaning: 'An index was asked for that the cache does not have.',
    remedy: 'Name the index in the options of the cache.',
  },
  CACHE_INDEX_TWICE: {
    meaning: 'Two controllers that share a cache want different indexes under one name.',
    remedy: 'Give one of them another name, or use the same function.',
  },
  CACHE_NOT_SYNCED: {
    meaning: 'Objects were asked for before their kind has been listed: not known is not absent.',
    remedy: 'Nothing: it is tried again. If it stays, the kind is not installed or may not be listed.',
  },
  REFLECTOR_OPTIONS: {
    meaning: 'A reflector was given a limit or a backoff that would hurt the API server or end healthy watches.',
    remedy: 'Leave the option out, or choose what the message allows.',
  },
  REFLECTOR_RUNNING: {
    meaning: 'A reflector was started a second time while it runs: two would fight for one cache.',
    remedy: 'Read its events in one place, or stop it first.',
  },
  REFLECTOR_SILENT: {
    meaning: 'A list or watch was given up because the server said nothing for too long, not even a bookmark.',
    remedy: 'Nothing: the reflector goes on with a new connection. If it happens often, look what stands between.',
  },
  QUEUE_UNKNOWN: {
    meaning: 'A route named a queue that is not there.',
    remedy: 'Give every queue that `route` may name to the router.',
  },
  OBSERVER_TIMEOUT: {
    meaning: 'The real world of a resource could not be observed in the time given.',
    remedy: 'Look whether it is reachable; the observer goes on, and what could not be read counts as unknown.',
  },
  OBSERVER_STOPPED: {
    meaning: 'An observation was given up because its resource is no longer observed.',
    remedy: 'Nothing.',
  },
  NOT_LEADING: {
    meaning: 'A write was refused before it was sent: the term in which it was decided is over, or its lease is.',
    remedy: 'Nothing: whoever leads now does what is needed. If it happens often, look why leases are not renewed.',
  },
  ELECTION_OPTIONS: {
    meaning: 'The times of a leader election cannot work together.',
    remedy: 'Leave them out, or keep lease > renewal > retry.',
  },
  LEASE_RENEWAL: {
    meaning: 'The lease of the leader could not be renewed in time; the work of the term is cancelled.',
    remedy: 'Nothing: another process leads, or this one again. Look at the API server if it happens often.',
  },
  FENCE_OPEN: {
    meaning: 'Fencing was asked for, but the server lets writes of a term that never was pass.',
    remedy: 'Install the policy and its binding (the manager can print them), and the role that belongs to them.',
  },
  MANAGER_STUCK: {
    meaning: 'Work of a term that is over did not end. Going on would be two workers on one key.',
    remedy: 'End the process and start it again; the keys that did not end are named. Pass signals on in reconcile.',
  },
  CONTROLLER_OPTIONS: {
    meaning: 'A controller was described with parts that do not fit together.',
    remedy: 'Correct what the message names.',
  },
  TERMINAL: {
    meaning: 'Work on an object failed in a way that trying again does not mend.',
    remedy: 'Change the object: its key runs again then.',
  },
  STATUS_STALE: {
    meaning:
      'A status was decided on another one than the server has: somebody wrote it in between. Nothing was written.',
    remedy: 'Nothing: the key runs again, with what is there now.',
  },
  OBJECT_REPLACED: {
    meaning: 'A status was about to be written for an object that is gone; perhaps another one has its name.',
    remedy: 'Nothing: the key runs again, with what is there now.',
  },
  FINALIZER_BLOCKED: {
    meaning: 'An object is being deleted, and what must happen before cannot be done.',
    remedy: 'The condition FinalizerBlocked says why. It is tried again; nothing is left behind.',
  },
  CANCELLED: {
    meaning: 'Work on a key was cancelled: superseded, deleted, lost-lease, shutdown or timeout, as the reason says.',
    remedy: 'Nothing: the key is taken again. After timeouts look why its work takes so long.',
  },
} as const satisfies ErrorCatalog;

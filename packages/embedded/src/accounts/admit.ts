/** Service accounts of new pods: looked up, and refused if they are not there. */
import { type Draft, draftOf, objectOf, textOf } from '../object/draft.ts';
import type { Context, Target } from '../rest/context.ts';
import { forbiddenRequest } from '../status/refusal.ts';
import { accountName, DEFAULT_ACCOUNT, giveAccount, isMirror } from './pod-account.ts';

type Ports = Pick<Context, 'store' | 'clock' | 'random' | 'hasAccounts'>;

/** The account of a namespace comes a moment after the namespace: so often it is looked for, as the real server does it. */
const ATTEMPTS = 10;
const SHORTEST_MS = 100;
const MORE_MS = 100;

const isAsked = ({ hasAccounts }: Ports, { served, subresource }: Target): boolean =>
  hasAccounts && subresource === '' && served.kind.group === '' && served.kind.plural === 'pods';

const find = ({ store }: Ports, namespace: string, name: string) =>
  store.get({ resource: 'serviceaccounts', namespace, name });

/** Before a pod is made: waits for the account that every namespace gets. */
export async function awaitAccount(ports: Ports, target: Target, pod: Draft): Promise<void> {
  if (!isAsked(ports, target) || accountName(pod) !== DEFAULT_ACCOUNT || isMirror(pod)) return;
  const pauseMs = SHORTEST_MS + ports.random.next() * MORE_MS;
  for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
    if (find(ports, target.namespace, DEFAULT_ACCOUNT)) return;
    await ports.clock.sleep(pauseMs);
  }
}

/**
 * Completes a new pod, or throws.
 * @param shown the name by which a refusal calls it
 * @param nameFrom makes a name from its beginning
 */
export function admitAccount(
  ports: Ports,
  target: Target,
  pod: Draft,
  shown: string,
  nameFrom: (base: string) => string,
): void {
  if (!isAsked(ports, target)) return;
  const { kind } = target.served;
  if (isMirror(pod)) {
    if (textOf(objectOf(pod.spec).serviceAccountName) === '') return;
    throw forbiddenRequest(kind, shown, 'a mirror pod may not reference service accounts');
  }
  const name = accountName(pod);
  const account = find(ports, target.namespace, name);
  if (!account) {
    const missing = `serviceaccount ${JSON.stringify(name)} not found`;
    const why = `error looking up service account ${target.namespace}/${name}: ${missing}`;
    throw forbiddenRequest(kind, shown, why);
  }
  giveAccount(pod, draftOf(account.body), nameFrom);
}

/** From taking the lease to the first write: the server must have seen that we lead, and that nobody else does. */
import type { Transport } from '@reeve/kube';
import { KubeClient } from '@reeve/kube';
import { guarded } from '../client/guard.ts';
import { ReeveError } from '../errors/errors.ts';
import type { FenceCarrier } from '../lease/fence.ts';
import { probeName } from '../lease/fence.ts';
import { configMaps, type FenceState, probeFence } from '../lease/probe.ts';
import type { Term } from '../lease/term.ts';
import type { Clock, Random } from '../ports/ports.ts';

export interface FencingOptions {
  readonly carrier: FenceCarrier;
  /**
   * After the server that answers us has seen our lease, how long to wait for the others behind the same address. Default 1 s, far more
   * than their watches lag; 0 where there is one server.
   */
  readonly settleMs?: number;
  /** Between two looks. Default 200 ms. */
  readonly lookMs?: number;
}

const FORGED: Pick<Term, 'token'> = { token: '0/nobody' };

/** Resolves when the fence stands for this term; rejects when the term ends before. */
export async function awaitFence(
  ports: { readonly clock: Clock; readonly random: Random },
  transport: Transport,
  term: Term,
  lease: { readonly namespace: string; readonly name: string },
  { carrier, settleMs = 1_000, lookMs = 200 }: FencingOptions,
  told: (state: Extract<FenceState, { stands: false }>) => void,
): Promise<void> {
  const { clock } = ports;
  const through = (as: Term) => {
    const client = new KubeClient({ ...ports, transport: guarded(transport, as, carrier.headers) });
    return client.resource(configMaps, lease.namespace);
  };
  const forged = through({
    ...FORGED,
    holder: 'nobody',
    transitions: 0,
    signal: term.signal,
    isValid: () => term.isValid(),
  });
  let said = '';
  for (;;) {
    term.signal.throwIfAborted();
    const state = await look(() => probeFence(through(term), forged, probeName(lease), term.signal), term.signal);
    if (state.stands) break;
    if (said !== state.message) told(state);
    said = state.message;
    await clock.sleep(lookMs, term.signal);
  }
  if (settleMs > 0) await clock.sleep(settleMs, term.signal);
}

/** A probe that got no answer says nothing: it is asked again. */
async function look(probe: () => Promise<FenceState>, signal: AbortSignal): Promise<FenceState> {
  try {
    return await probe();
  } catch (error) {
    if (signal.aborted) throw error;
    const message = error instanceof ReeveError || error instanceof Error ? error.message : String(error);
    return { stands: false, why: 'waiting', message };
  }
}

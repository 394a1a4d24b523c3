/** Observation on behalf of an operation: as much as it asks for, not more. */
import type { Needs } from '../api/operation.ts';
import { countSlots, minusSlots } from '../api/slots.ts';
import type { ClusterView } from '../api/view.ts';
import { observeCluster } from '../observe/observe.ts';
import type { Environment } from './environment.ts';

async function observe(environment: Environment, needs: Needs): Promise<ClusterView> {
  const view = await observeCluster(environment.redis, environment.ports, environment.seeds, {
    ...needs,
    ...(environment.annotations ? { annotations: environment.annotations } : {}),
  });
  environment.report?.({ event: 'observed', view });
  return view;
}

/** So old may a view be that the first turn goes by: as old as any view is when its commands have gone out. */
const FRESH_MS = 1_000;

/** Whether a view made for a decision will do for the first turn as well; handlers look for themselves in any case. */
export function suffices(
  view: ClusterView,
  { asked, needed, now }: { readonly asked: Needs; readonly needed: Needs; readonly now: number },
): boolean {
  return now - view.observedAt <= FRESH_MS && covers(asked, needed);
}

/** Whether `asked` covers all that `needed` wants: what was asked once is not asked again. */
function covers(asked: Needs, needed: Needs): boolean {
  if (countSlots(minusSlots(needed.countKeysIn ?? [], asked.countKeysIn ?? [])) > 0) return false;
  if (needed.measureSlots && needed.measureSlots !== asked.measureSlots) return false;
  if (needed.keysBeyondSlots && !asked.keysBeyondSlots) return false;
  const known = new Set((asked.alsoAsk ?? []).map((e) => `${e.host}:${e.port}`));
  return (needed.alsoAsk ?? []).every((e) => known.has(`${e.host}:${e.port}`));
}

/** Observes until what the view shows raises no further question (at most thrice: questions do not chase moving answers). */
export async function observeFor(
  environment: Environment,
  needsOf: (view: ClusterView) => Needs,
): Promise<ClusterView> {
  const nothing: ClusterView = { observedAt: environment.ports.clock.now(), nodes: [], silent: [] };
  let asked = needsOf(nothing);
  let view = await observe(environment, asked);
  for (let round = 0; round < 2; round++) {
    const needed = needsOf(view);
    if (covers(asked, needed)) break;
    asked = needed;
    view = await observe(environment, asked);
  }
  return view;
}

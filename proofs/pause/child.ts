/**
 * A manager in a process of its own that writes as fast as it can while it leads: statuses, patches, creations, deletions, each marked
 * with its term. Arguments: kubeconfig, identity, `fenced` or `unfenced`, `clear` or `blind`. Says on its output what was refused.
 */
import { accessOf, isKubeError, loadContext, networkTransport, systemKubePorts } from '@reeve/kube';
import { type Clock, ReeveError, requeueAfter, systemPorts } from '@reeve/runtime';
import { controller, Manager } from '@reeve/runtime/manager';
import { carrier, LEASE, NOTE_LABEL, notes, things } from './kinds.ts';

const [file = '', identity = '', fenced, sight] = process.argv.slice(2);
const ports = systemKubePorts();
const context = await loadContext(ports, { file });
const { transport, close } = networkTransport(accessOf(context, ports), ports.clock);

/** As on a machine that slept: the time in which nothing ran is not on its clock, so the client's own check is blind. */
function sleeper(clock: Clock): Clock {
  let last = clock.now();
  let slept = 0;
  return {
    now() {
      const now = clock.now();
      if (now - last > 1_000) slept += now - last;
      last = now;
      return now - slept;
    },
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}

const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
// Whoever started us is gone, however it ended.
process.stdin.once('end', () => process.exit(1)).resume();
const clock = sight === 'blind' ? sleeper(systemPorts.clock) : systemPorts.clock;
const say = (what: string) => process.stdout.write(`${what}\n`);
const manager = new Manager(
  { ...systemPorts, clock },
  {
    name: 'writer',
    transport,
    election: { ...LEASE, identity, leaseMs: 3_000, renewMs: 2_000, retryMs: 400 },
    ...(fenced === 'fenced' && { fencing: { carrier, settleMs: 0 } }),
    budget: { write: { perSecond: 500, burst: 500 }, delete: { perSecond: 500, burst: 500 } },
  },
);

let n = 0;
manager.add(
  controller({
    name: 'writer',
    kind: things,
    namespace: 'default',
    concurrency: 8,
    reconcile: async ({ object, status, term, api, signal }) => {
      const by = `${term.transitions}/${term.holder}`;
      const mark = { by, n: ++n };
      const { name } = object.metadata;
      try {
        if (mark.n % 3 === 0) await status(mark);
        else if (mark.n % 3 === 1) {
          await api.resource(things, 'default').patch(name, { type: 'merge', value: { spec: mark } }, { signal });
        } else {
          const ofNotes = api.resource(notes, 'default');
          const note = `note-${identity}-${process.pid}-${mark.n}`;
          await ofNotes.create({ metadata: { name: note, labels: NOTE_LABEL }, data: { by } }, { signal });
          await ofNotes.delete(note, { signal });
        }
      } catch (error) {
        if (error instanceof ReeveError || isKubeError(error)) say(`refused ${error.code}`);
        throw error;
      }
      return requeueAfter(5);
    },
  }),
);
await manager.run(stop.signal);
close();

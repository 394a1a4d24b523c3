/**
 * What people should hear of the containers of a pod: that one waits before it runs again, that one had to be killed. Events of one action
 * are one series, unless their words differ in more than numbers: each container has its own.
 */
import type { EventWriter } from '@reeve/runtime/manager';
import type { PodStatus } from '../kinds/pod.ts';
import type { StoredPod } from '../pod/view.ts';

export class Notices {
  readonly #told = new Set<string>();

  backOff({ metadata }: StoredPod, status: PodStatus, events: EventWriter): void {
    const { initContainerStatuses = [], containerStatuses = [] } = status;
    for (const { name, state, restartCount } of [...initContainerStatuses, ...containerStatuses]) {
      if (state?.waiting?.reason !== 'CrashLoopBackOff' || !this.#isNews('back-off', name, restartCount)) continue;
      const where = `${name} in pod ${metadata.name}_${metadata.namespace}(${metadata.uid})`;
      events.warning('BackOff', `Back-off restarting failed container ${where}`, `Restarting ${name}`);
    }
  }

  killed(container: string, attempt: number, graceMs: number, events: EventWriter): void {
    if (!this.#isNews('killed', container, attempt)) return;
    const note = `Container ${container} had not ended ${graceMs / 1_000}s after it was asked to, and was killed`;
    events.warning('ExceededGracePeriod', note, `Killing ${container}`);
  }

  flooded(container: string, events: EventWriter): void {
    const note = `The log of container ${container} had become too long and was emptied; what it held is lost. Let the program write less`;
    events.warning('LogEmptied', note, `Logging ${container}`);
  }

  notHonoured(fields: readonly string[], events: EventWriter): void {
    if (fields.length === 0) return;
    events.warning('NotHonoured', `This node runs the pod without regard to ${fields.join(', ')}`, 'Preparing');
  }

  #isNews(...words: readonly (string | number)[]): boolean {
    const key = words.join(' ');
    if (this.#told.has(key)) return false;
    this.#told.add(key);
    return true;
  }
}

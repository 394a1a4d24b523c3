/**
 * The writer's journal: what was acknowledged must be there. Replication is asynchronous, so that a killed primary may take with it what
 * its replica had not received; each write is followed by `WAIT 1`, and what a replica confirmed may never be lost.
 */
import { type Access, type Endpoint, RedirectingClient, type TrafficResult } from '@reeve/rig';

export interface Closed {
  readonly problems: readonly string[];
  /** Acknowledged by a primary that was killed before any replica had it. */
  readonly losses: number;
}

const MOST_TOLD = 5;

export class Journal {
  /** Key → value that must be there, of all times. */
  readonly expected = new Map<string, string>();

  /** @param mayLose whether a server was killed meanwhile. */
  async close(
    { acknowledged, replicated, errors, regressions }: TrafficResult,
    { endpoints, access }: { readonly endpoints: readonly Endpoint[]; readonly access: Access },
    mayLose: boolean,
  ): Promise<Closed> {
    const problems = errors.slice(0, MOST_TOLD).map((error) => `an error was left to a client: ${error}`);
    const client = new RedirectingClient(endpoints, access, 30_000);
    await client.refresh();
    let losses = 0;
    try {
      for (const [key, value] of acknowledged) {
        const now = await client.command(key, ['GET', key]);
        if (now === value) this.expected.set(key, value);
        else {
          const isKept = numberOf(now) >= numberOf(replicated.get(key));
          if (mayLose && isKept && numberOf(now) < numberOf(value)) losses++;
          else problems.push(`${key} was acknowledged as ${brief(value)} and is ${brief(now)}`);
          if (typeof now === 'string') this.expected.set(key, now);
        }
      }
    } finally {
      client.close();
    }
    // Reads that went back in time are what a loss looks like to a reader.
    if (!mayLose && regressions.length > 0)
      problems.push(`${regressions.length} reads were older than the write before`);
    return { problems: problems.slice(0, MOST_TOLD), losses };
  }
}

/** Of the write that made it. */
function numberOf(value: unknown): number {
  return typeof value === 'string' ? Number.parseInt(value, 10) : 0;
}

function brief(value: unknown): string {
  return typeof value === 'string' ? value.replace(/\.+$/, '') : String(value);
}

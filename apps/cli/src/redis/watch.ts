import type { Finding } from '@reeve/redis';
import { asReeveError, type ReeveError } from '@reeve/runtime';
import { exit } from '../errors.ts';
import { plural } from '../output/format.ts';
import { styleFor } from '../output/style.ts';
import { changesBetween, type Look } from './changes.ts';
import { expectationOptions, findingsOf } from './check.ts';
import { defineLookVerb } from './look.ts';
import { clusterPicture } from './picture.ts';
import { findingsText, viewText } from './view.ts';

const HOME_AND_CLEAR = '\u001b[H\u001b[2J';
/** Changes kept on the screen. */
const MOST_CHANGES = 12;

export const watchVerb = defineLookVerb({
  name: 'watch',
  takes: 'HOST:PORT [options]',
  summary: 'status and check, again and again, with what changed',
  description: [
    'On a terminal the screen is redrawn; otherwise only changes are printed, a line each (with --json, a JSON line each). Ends with Ctrl-C. Changes nothing.',
  ],
  examples: [{ line: 'reeve redis watch 10.0.0.1:6379', what: 'look on while another terminal reshards' }],
  options: {
    ...expectationOptions,
    interval: { type: 'number', value: 'SECONDS', least: 0.1, whole: false, help: 'Time between looks. Default 1.' },
    count: { type: 'number', value: 'N', least: 1, help: 'End after so many looks. Default: never.' },
  },
  async look({ io, values, signal }, session) {
    const redraw = io.outIsTerminal && !values.json;
    const style = styleFor(io.outIsTerminal, io.env);
    let before: Look | undefined;
    let log: readonly string[] = [];
    for (let look = 1; !signal.aborted; look++) {
      try {
        const { view, findings } = await findingsOf(session, values);
        const now: Look = { picture: clusterPicture(view), findings: findings.map(findingLine) };
        const at = new Date(view.observedAt).toISOString();
        const news = before ? changesBetween(before, now) : firstLook(now);
        if (redraw) {
          log = [...log, ...news.map((line) => `${at.slice(11, 19)} ${line}`)].slice(-MOST_CHANGES);
          const parts = [viewText(view, now.picture, style), '', findingsText(findings, style), '', ...log];
          io.out(`${HOME_AND_CLEAR}${parts.join('\n')}\n`);
        } else {
          for (const line of news)
            io.out(values.json ? `${JSON.stringify({ at, change: line })}\n` : `${at} ${line}\n`);
        }
        before = now;
      } catch (error) {
        const known: ReeveError = asReeveError(error);
        if (known.code === 'INTERNAL') throw error;
        // The whole cluster may be away for a while: that is what one watches for.
        io.err(`${known.message} [${known.code}]\n`);
      }
      if (values.count !== undefined && look >= values.count) break;
      await io.ports.clock.sleep((values.interval ?? 1) * 1000, signal).catch(() => undefined); // Ctrl-C ends the wait
    }
    return exit.ok;
  },
});

const findingLine = ({ severity, message, code }: Finding): string => `${severity}: ${message} [${code}]`;

function firstLook({ picture, findings }: Look): readonly string[] {
  const nodes = picture.shards.reduce((sum, { replicas }) => sum + 1 + replicas.length, picture.others.length);
  return [
    `watching ${plural(nodes, 'node')}, cluster_state ${picture.state}`,
    ...findings.map((line) => `found: ${line}`),
  ];
}

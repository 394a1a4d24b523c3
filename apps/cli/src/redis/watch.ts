import { isClean } from '@reeve/redis';
import { asReeveError, type ReeveError } from '@reeve/runtime';
import { exit } from '../errors.ts';
import { findingLines } from '../output/findings.ts';
import { pictureLines } from '../output/picture.ts';
import { styleFor } from '../output/style.ts';
import { changesBetween } from './changes.ts';
import { expectationOptions, findingsOf } from './check.ts';
import { defineLookVerb } from './look.ts';
import { type ClusterPicture, clusterPicture } from './picture.ts';

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
    const style = styleFor(io.outIsTerminal, io.env);
    const redraw = io.outIsTerminal && !values.json;
    let before: { picture: ClusterPicture; findings: readonly string[] } | undefined;
    let log: readonly string[] = [];
    for (let look = 1; !signal.aborted; look++) {
      try {
        const { view, findings } = await findingsOf(session, values);
        const now = { picture: clusterPicture(view), findings: findingLines(findings, styleFor(false, {})) };
        const changes = before ? changesBetween(before, now) : isClean(findings) ? [] : now.findings;
        const at = new Date(view.observedAt).toISOString();
        if (values.json) for (const change of changes) io.out(`${JSON.stringify({ at, change })}\n`);
        else if (!redraw) for (const change of changes) io.out(`${at} ${change}\n`);
        else {
          log = [...log, ...(before ? changes : []).map((change) => `${at.slice(11, 19)} ${change}`)].slice(
            -MOST_CHANGES,
          );
          const verdict = isClean(findings) ? [style.green('clean')] : findingLines(findings, style);
          io.out(`${HOME_AND_CLEAR}${[...pictureLines(now.picture, style), '', ...verdict, '', ...log].join('\n')}\n`);
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

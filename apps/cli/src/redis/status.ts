import { exit } from '../errors.ts';
import { styleFor } from '../output/style.ts';
import { defineLookVerb } from './look.ts';
import { clusterPicture } from './picture.ts';
import { mustSeeSomething } from './session.ts';
import { viewText } from './view.ts';

export const statusVerb = defineLookVerb({
  name: 'status',
  takes: 'HOST:PORT [options]',
  summary: 'show a cluster',
  description: ['Reads every member itself; shows shards, slots, keys, memory and replication. Changes nothing.'],
  examples: [{ line: 'reeve redis status 10.0.0.1:6379', what: 'one address is enough: the others are found' }],
  options: {},
  async look({ io, values }, session) {
    const view = mustSeeSomething(await session.observe());
    const picture = clusterPicture(view);
    if (values.json) io.out(`${JSON.stringify({ command: 'redis status', ok: true, ...picture })}\n`);
    else io.out(`${viewText(view, picture, styleFor(io.outIsTerminal, io.env))}\n`);
    return exit.ok;
  },
});

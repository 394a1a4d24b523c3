import { exit } from '../errors.ts';
import { pictureLines } from '../output/picture.ts';
import { styleFor } from '../output/style.ts';
import { defineLookVerb } from './look.ts';
import { clusterPicture } from './picture.ts';
import { mustSeeSomething } from './session.ts';

export const statusVerb = defineLookVerb({
  name: 'status',
  takes: 'HOST:PORT [options]',
  summary: 'show a cluster',
  description: ['Reads every member itself; shows shards, slots, keys, memory and replication. Changes nothing.'],
  examples: [{ line: 'reeve redis status 10.0.0.1:6379', what: 'one address is enough: the others are found' }],
  options: {},
  async look({ io, values }, session) {
    const picture = clusterPicture(mustSeeSomething(await session.observe()));
    if (values.json) io.out(`${JSON.stringify({ command: 'redis status', ok: true, ...picture })}\n`);
    else for (const line of pictureLines(picture, styleFor(io.outIsTerminal, io.env))) io.out(`${line}\n`);
    return exit.ok;
  },
});

/** What one server answers, printed: for a look at a case. */
import { normalised } from './normal.ts';
import { record } from './record.ts';
import type { Server } from './server.ts';
import { namesOf, type Selected } from './suite.ts';

export async function printRecordings(selected: readonly Selected[], server: Server): Promise<void> {
  for (const [index, { area, one }] of selected.entries()) {
    const recording = await record(one, server, namesOf(area, index));
    console.log(`${area}: ${one.name}`);
    for (const step of normalised(recording, one)) console.log(`  ${JSON.stringify(step)}`);
    for (const surprise of recording.surprises) console.log(`  not as the case says: ${surprise}`);
  }
}

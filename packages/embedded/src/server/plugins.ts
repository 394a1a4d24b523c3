/** What goes through the doors for patches and managed fields, unless the server is given something else. */
import { applyPatch } from '../apply/apply.ts';
import { keepTimes } from '../apply/times.ts';
import { trackUpdate } from '../apply/track.ts';
import { jsonPatch } from '../patch/json-patch.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import { strategicMergePatch } from '../patch/strategic.ts';
import type { Plugins } from '../rest/context.ts';

export const standardPlugins: Plugins = {
  patches: {
    merge: mergePatch,
    json: jsonPatch,
    strategic: (object, patch, { version }) => strategicMergePatch(object, patch, version.types),
  },
  fields: {
    track: (after, before, owner, { version: { types } }) =>
      trackUpdate({ types, after, ...owner, ...(before === undefined ? {} : { before }) }),
    apply: (applied, live, owner, { version: { types } }) =>
      applyPatch({ types, applied, ...owner, ...(live === undefined ? {} : { live }) }),
    keepTimes,
  },
};

/**
 * What `reeve up` says, as far as it is true under `npm start`. Not: what Ctrl-C does to it where it runs alone (here it ends the pods,
 * too, as is said below), and how to go on with a `reeve` of PATH (here it is `node bin/reeve.js`, as is said below, too). Pure.
 */

const GO_ON = /^Go on from another terminal/;
const ITS_END = /^Ctrl-C stops|^Stopping\. Pods go on/;

/** Takes its output piece by piece. */
export function upLines(say: (line: string) => void): (text: string) => void {
  let rest = '';
  let isGoingOn = false;
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (GO_ON.test(line)) isGoingOn = true;
      const isIts = ITS_END.test(line);
      if (isIts) isGoingOn = false; // the last of what it says at the start
      if (!isIts && !isGoingOn) say(line);
    }
  };
}

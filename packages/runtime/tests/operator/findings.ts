import type { CampaignResult } from '@reeve/simulation';

/** What failed, with the choices that replay it. */
export function findings({ failures }: CampaignResult): readonly string[] {
  return failures.map(
    ({ origin, failure, smallest }) =>
      `${origin}: ${failure.code} ${failure.message.split('\n')[0]} [${smallest.choices.join()}]`,
  );
}

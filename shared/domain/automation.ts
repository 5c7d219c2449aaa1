/** What an account says about decisions in its name. */
export interface AutomationTerms {
  /** False if nothing is decided for the person. */
  automatic: boolean;
  /** Share of what would be automatic that the person is asked all the same. */
  checkShare: number;
}

/**
 * Decides what becomes of something that is certain enough: acted on, or asked for, to check it. Chance chooses what is
 * checked, so that it stands for all. Without terms the account is gone.
 */
export function automationOf(terms: AutomationTerms | null, isCheckable: boolean): 'act' | 'check' | 'ask' {
  if (!terms?.automatic) return 'ask';
  return isCheckable && Math.random() < terms.checkShare ? 'check' : 'act';
}

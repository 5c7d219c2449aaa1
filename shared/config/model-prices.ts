/** Prices by model, in millionths of a cent per token. */
export type ModelPrices = ReadonlyMap<string, { input: number; output: number }>;

/** A model's name may contain `=` and `:`, so the last ones count. */
const ENTRY = /^(?<model>.+)=(?<input>\d{1,6}(\.\d{1,6})?):(?<output>\d{1,6}(\.\d{1,6})?)$/;

/** A dollar per million tokens is 100 millionths of a cent per token. */
const MICROCENTS_PER_TOKEN = 100;

/** Parses `MODEL_PRICES`; undefined when an entry is malformed or a model occurs twice. */
export function parseModelPrices(value: string): ModelPrices | undefined {
  const prices = new Map<string, { input: number; output: number }>();
  for (const entry of value.split(',')) {
    const { model, input, output } = ENTRY.exec(entry.trim())?.groups ?? {};
    if (model === undefined || prices.has(model)) return undefined;
    prices.set(model, {
      input: Number(input) * MICROCENTS_PER_TOKEN,
      output: Number(output) * MICROCENTS_PER_TOKEN,
    });
  }
  return prices;
}

// Money as people type it, in dollars, and as it is kept, in whole cents.

// "25", "$25.50", "1,000" to cents; null when empty, undefined when it is no sum.
export function toCents(text) {
  const plain = text.trim().replace(/^\$/, "").replaceAll(",", "");
  if (plain === "") return null;
  if (!/^\d{1,10}(\.\d{1,2})?$/.test(plain)) return undefined;
  const [whole, rest = ""] = plain.split(".");
  return Number(whole) * 100 + Number(rest.padEnd(2, "0"));
}

// Cents as they stand in a field: "25", "25.50".
export function fromCents(cents) {
  if (cents === null || cents === undefined) return "";
  return cents % 100 ? (cents / 100).toFixed(2) : String(cents / 100);
}

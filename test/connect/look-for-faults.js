/**
 * Returns the faults of the page in which it is evaluated, as far as a program can see them. Checks for a language and
 * a title, one main heading, a label for each field, targets of at least 44 pixels (WCAG 2.2, 2.5.5), and a contrast of
 * at least 4.5:1 for text (1.4.3) and 3:1 for the edges of fields (1.4.11).
 */
(() => {
  const faults = [];
  if (document.documentElement.lang !== 'en') faults.push('no language');
  if (!document.title.endsWith('– Forecue')) faults.push('no title');
  if (document.querySelectorAll('h1').length !== 1) faults.push('not one h1');
  for (const input of document.querySelectorAll('input:not([type=hidden])')) {
    if (input.labels.length !== 1) faults.push(`no label: ${input.name}`);
    for (const id of input.getAttribute('aria-describedby')?.split(' ') ?? [])
      if (document.getElementById(id) === null) faults.push(`described by nothing: ${id}`);
    const { borderColor } = getComputedStyle(input);
    const ratio = contrast(borderColor, backgroundOf(input.parentElement));
    if (ratio < 3) faults.push(`edge ${ratio.toFixed(2)}: ${input.name}`);
  }
  for (const target of document.querySelectorAll('button, a, select, input:not([type=hidden])')) {
    const hit = ['radio', 'checkbox'].includes(target.type) ? target.labels[0] : target;
    if (hit.getBoundingClientRect().height < 44) faults.push(`small: ${hit.textContent}`);
  }
  for (const element of document.querySelectorAll('body *')) {
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
    const ratio = contrast(getComputedStyle(element).color, backgroundOf(element));
    if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}: ${element.textContent}`);
  }
  return faults;

  function backgroundOf(element) {
    for (let one = element; one !== null; one = one.parentElement) {
      const { backgroundColor } = getComputedStyle(one);
      if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor;
    }
    return 'rgb(255, 255, 255)';
  }

  function contrast(one, other) {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  }

  function luminance(colour) {
    const [r, g, b] = colour.match(/\d+(\.\d+)?/g).map((part) => {
      const value = Number(part) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
})();

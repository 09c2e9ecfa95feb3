// Looks at the page that is shown and returns what is wrong with it, a sentence
// each: wider than the screen, text with a contrast below 4.5, and in plots text
// that is small, outside its plot or on top of other text. The screen must be as
// high as the page, all of it unfolded: only what is on it can be looked at.
(() => {
  const faults = [];
  const round = n => n.toFixed(2);

  const rgba = s => {
    const n = (s.match(/[\d.]+/g) || []).map(Number);
    return n.length < 3 ? null : [n[0], n[1], n[2], n.length > 3 ? n[3] : 1];
  };
  const luminance = c => {
    const [r, g, b] = c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  };

  // The colour that an element lays over what is behind it, if it does.
  const cover = e => {
    const style = getComputedStyle(e);
    if (e instanceof SVGElement && !(e instanceof SVGSVGElement)) {
      return e instanceof SVGGeometryElement && style.fill !== "none" ? rgba(style.fill) : null;
    }
    return rgba(style.backgroundColor);
  };
  // The colour behind the middle of a box: of the first element below the text
  // that covers what is behind it.
  const ground = (element, box) => {
    for (const e of document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2)) {
      if (e === element && element instanceof SVGElement) continue;
      const c = cover(e);
      if (c && c[3] === 1) return c;
      if (c && c[3] > 0) faults.push(`a ground that can be seen through: ${e.outerHTML.slice(0, 80)}`);
    }
    return null;
  };

  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    faults.push(`the page is ${root.scrollWidth} wide, wider than the screen of ${root.clientWidth}`);
  }

  let texts = 0;
  const inPlots = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const words = node.data.trim();
    const range = document.createRange();
    range.selectNodeContents(node);
    if (!words || !range.getClientRects().length || element.closest("script, style, .hidden")) continue;
    texts++;
    if (element.closest(".scroll, pre")) element.scrollIntoView({block: "nearest", inline: "center"}); // it may be cut there
    const box = range.getClientRects()[0];
    const style = getComputedStyle(element);
    const plot = element.closest("svg");
    const front = rgba(plot ? style.fill : style.color);
    const back = ground(element, box);
    if (!back) {
      faults.push(`nothing is behind "${words}"`);
    } else if (contrast(front, back) < 4.5) {
      faults.push(`"${words}" has contrast ${round(contrast(front, back))}: ${front} on ${back}`);
    }
    if (!plot) continue;
    const frame = plot.getBoundingClientRect();
    const size = parseFloat(style.fontSize) * frame.width / plot.viewBox.baseVal.width;
    if (size < 10.95) faults.push(`"${words}" is small: ${round(size)} px`);
    const at = element.getBoundingClientRect();
    const one = {words, x: at.x - frame.x, y: at.y - frame.y, r: at.right - frame.x, b: at.bottom - frame.y};
    const slack = 1.5;
    if (one.x < -slack || one.y < -slack || one.r > frame.width + slack || one.b > frame.height + slack) {
      faults.push(`"${words}" is outside its plot`);
    }
    const others = inPlots.get(plot) || [];
    for (const o of others) {
      const across = Math.min(one.r, o.r) - Math.max(one.x, o.x), down = Math.min(one.b, o.b) - Math.max(one.y, o.y);
      if (across > slack && down > 4) faults.push(`"${words}" is on top of "${o.words}"`);
    }
    inPlots.set(plot, [...others, one]);
  }
  if (!texts) faults.push("there is no text");
  scrollTo(0, 0);
  return faults;
})()

import type { FunctionComponent, SVGAttributes } from "react";

interface IconProps extends Omit<SVGAttributes<SVGSVGElement>, "stroke"> {
  /** Width and height in pixels. */
  size?: number;
  /** Width of the lines, in 24ths of the size. */
  stroke?: number;
}

export type Icon = FunctionComponent<IconProps>;

/** The icon of an inner SVG of a drawing of 24 by 24, which sets fill and color. */
export function icon(body: string): Icon {
  return (props) => draw(body, props);
}

function draw(body: string, { size = 24, stroke = 2, ...attributes }: IconProps) {
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      viewBox="0 0 24 24"
      width={size}
      height={size}
      strokeWidth={stroke}
      aria-hidden={attributes["aria-label"] === undefined}
      {...attributes}
      // biome-ignore lint/security/noDangerouslySetInnerHtml: The build writes it from a package.
      dangerouslySetInnerHTML={{ __html: body }}
    />
  );
}

import DefaultTheme from "vitepress/theme-without-fonts";
import "@fontsource-variable/geist/wght.css";
import "@fontsource-variable/geist-mono/wght.css";
import "./theme.css";

export default DefaultTheme;

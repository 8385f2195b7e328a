/** Icons of the console: the outlines of Tabler Icons, which the build takes from `@iconify-json/tabler` (vite-icons.ts). */

import activity from "virtual:tabler/activity";
import adjustments from "virtual:tabler/adjustments";
import alertTriangle from "virtual:tabler/alert-triangle";
import arrowDown from "virtual:tabler/arrow-down";
import arrowUp from "virtual:tabler/arrow-up";
import book from "virtual:tabler/book";
import building from "virtual:tabler/building";
import bulb from "virtual:tabler/bulb";
import chartBar from "virtual:tabler/chart-bar";
import check from "virtual:tabler/check";
import checklist from "virtual:tabler/checklist";
import chevronDown from "virtual:tabler/chevron-down";
import chevronLeft from "virtual:tabler/chevron-left";
import chevronRight from "virtual:tabler/chevron-right";
import code from "virtual:tabler/code";
import coin from "virtual:tabler/coin";
import copy from "virtual:tabler/copy";
import cpu from "virtual:tabler/cpu";
import database from "virtual:tabler/database";
import download from "virtual:tabler/download";
import file from "virtual:tabler/file";
import folder from "virtual:tabler/folder";
import gauge from "virtual:tabler/gauge";
import headset from "virtual:tabler/headset";
import help from "virtual:tabler/help-circle";
import history from "virtual:tabler/history";
import key from "virtual:tabler/key";
import language from "virtual:tabler/language";
import lock from "virtual:tabler/lock";
import logout from "virtual:tabler/logout";
import maximize from "virtual:tabler/maximize";
import message from "virtual:tabler/message";
import microphone from "virtual:tabler/microphone";
import minimize from "virtual:tabler/minimize";
import moon from "virtual:tabler/moon";
import paperclip from "virtual:tabler/paperclip";
import pencil from "virtual:tabler/pencil";
import percentage from "virtual:tabler/percentage";
import photo from "virtual:tabler/photo";
import playerPause from "virtual:tabler/player-pause";
import playerPlay from "virtual:tabler/player-play";
import playerStop from "virtual:tabler/player-stop";
import playerStopFilled from "virtual:tabler/player-stop-filled";
import plug from "virtual:tabler/plug-connected";
import plus from "virtual:tabler/plus";
import refresh from "virtual:tabler/refresh";
import robot from "virtual:tabler/robot";
import search from "virtual:tabler/search";
import server from "virtual:tabler/server";
import settings from "virtual:tabler/settings";
import shieldCheck from "virtual:tabler/shield-check";
import stack from "virtual:tabler/stack-2";
import sun from "virtual:tabler/sun";
import template from "virtual:tabler/template";
import thumbDown from "virtual:tabler/thumb-down";
import thumbUp from "virtual:tabler/thumb-up";
import tool from "virtual:tabler/tool";
import trash from "virtual:tabler/trash";
import upload from "virtual:tabler/upload";
import users from "virtual:tabler/users";
import vectorTriangle from "virtual:tabler/vector-triangle";
import volume from "virtual:tabler/volume";
import webhook from "virtual:tabler/webhook";
import x from "virtual:tabler/x";
import type { FunctionComponent, SVGAttributes } from "react";

interface IconProps extends Omit<SVGAttributes<SVGSVGElement>, "stroke"> {
  /** Width and height in pixels. */
  size?: number;
  /** Width of the lines, in 24ths of the size. */
  stroke?: number;
}

export type Icon = FunctionComponent<IconProps>;

export const IconActivity = icon(activity);
export const IconAdjustments = icon(adjustments);
export const IconAlertTriangle = icon(alertTriangle);
export const IconArrowDown = icon(arrowDown);
export const IconArrowUp = icon(arrowUp);
export const IconBook = icon(book);
export const IconBuilding = icon(building);
export const IconBulb = icon(bulb);
export const IconChartBar = icon(chartBar);
export const IconCheck = icon(check);
export const IconChecklist = icon(checklist);
export const IconChevronDown = icon(chevronDown);
export const IconChevronRight = icon(chevronRight);
export const IconCode = icon(code);
export const IconCoin = icon(coin);
export const IconCopy = icon(copy);
export const IconCpu = icon(cpu);
export const IconDatabase = icon(database);
export const IconDownload = icon(download);
export const IconFile = icon(file);
export const IconFolder = icon(folder);
export const IconGauge = icon(gauge);
export const IconHeadset = icon(headset);
export const IconHelp = icon(help);
export const IconHistory = icon(history);
export const IconKey = icon(key);
export const IconLanguage = icon(language);
export const IconLock = icon(lock);
export const IconLogout = icon(logout);
export const IconMaximize = icon(maximize);
export const IconMinimize = icon(minimize);
export const IconMessage = icon(message);
export const IconMicrophone = icon(microphone);
export const IconMoon = icon(moon);
export const IconPencil = icon(pencil);
export const IconPhoto = icon(photo);
export const IconPlayerPause = icon(playerPause);
export const IconPlayerPlay = icon(playerPlay);
export const IconPlayerStop = icon(playerStop);
export const IconPlayerStopFilled = icon(playerStopFilled);
export const IconPlug = icon(plug);
export const IconPlus = icon(plus);
export const IconRefresh = icon(refresh);
export const IconRobot = icon(robot);
export const IconSearch = icon(search);
export const IconServer = icon(server);
export const IconSettings = icon(settings);
export const IconShieldCheck = icon(shieldCheck);
export const IconStack = icon(stack);
export const IconSun = icon(sun);
export const IconTemplate = icon(template);
export const IconThumbDown = icon(thumbDown);
export const IconThumbUp = icon(thumbUp);
export const IconTool = icon(tool);
export const IconTrash = icon(trash);
export const IconUpload = icon(upload);
export const IconUsers = icon(users);
export const IconVectorTriangle = icon(vectorTriangle);
export const IconVolume = icon(volume);
export const IconPercentage = icon(percentage);
export const IconChevronLeft = icon(chevronLeft);
export const IconPaperclip = icon(paperclip);
export const IconWebhook = icon(webhook);
export const IconX = icon(x);

function icon(body: string): Icon {
  return (props) => draw(body, props);
}

/** `body`: the inner SVG of a drawing of 24 by 24, which sets fill and color. */
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

/*
 * Closed-loop clients: each connection sends its next request when the answer has arrived.
 *
 *   load PORT PATH CONNECTIONS SECONDS [--body FILE] [--header "NAME: VALUE"]... [--frames N] [--stall-ms N]
 *
 * --frames: the answers are streams of N content events, which are counted; --stall-ms: a longer wait between two events
 * counts as a stall. Prints one JSON object; times are in microseconds. One thread with epoll.
 *
 * A request fails if its status is not 200, its answer is incomplete, or its connection breaks. A connection that this
 * machine cannot open ends the run with exit code 3, because the gateway is not to blame.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_EVENTS = 256, LINE_BYTES = 8192, RESOLUTION_MS = 200 };

struct samples {
  uint32_t *values;
  size_t count, room;
};

enum state { CONNECTING, SENDING, STATUS, HEADERS, BODY, CHUNK_SIZE, CHUNK, CHUNK_END, TRAILER };

struct client {
  int fd;
  enum state state;
  size_t sent;
  long long sent_at, last_frame_at;
  int status, is_chunked, closes, frames, is_done;
  /* Bytes of the body or chunk that are still to come; -1: until the connection closes. */
  long left;
  /* The line of the head, the chunk size or the event stream that is being read. */
  char line[LINE_BYTES];
  size_t line_bytes;
};

static struct sockaddr_in address;
static char *request;
static size_t request_bytes;
static int epoll_fd, expected_frames = -1, stall_ms = 0;
static long long requests, failures, stalls, frames_received, connection_count;
static struct samples latencies, first_frames, gaps;
static int is_measuring;

static long long now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static void fail(const char *what, int code) {
  perror(what);
  exit(code);
}

static void record(struct samples *samples, long long value) {
  if (!is_measuring) return;
  if (samples->count == samples->room) {
    samples->room = samples->room == 0 ? 65536 : samples->room * 2;
    samples->values = realloc(samples->values, samples->room * sizeof *samples->values);
    if (samples->values == NULL) fail("realloc", 1);
  }
  samples->values[samples->count++] = (uint32_t)value;
}

static void watch(struct client *c, int operation, uint32_t what) {
  struct epoll_event event = {.events = what, .data.ptr = c};
  if (epoll_ctl(epoll_fd, operation, c->fd, &event) < 0) fail("epoll_ctl", 3);
}

static void open_connection(struct client *c) {
  c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (c->fd < 0) fail("socket", 3);
  int on = 1;
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect(c->fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) fail("connect", 3);
  c->state = CONNECTING;
  c->sent = 0;
  connection_count += 1;
  watch(c, EPOLL_CTL_ADD, EPOLLOUT);
}

static void reopen(struct client *c) {
  close(c->fd);
  open_connection(c);
}

static void send_request(struct client *c) {
  if (c->sent == 0) {
    c->sent_at = now_us();
    c->last_frame_at = 0;
    c->status = c->is_chunked = c->closes = c->frames = c->is_done = 0;
    c->line_bytes = 0;
    c->left = -1;
  }
  c->state = SENDING;
  while (c->sent < request_bytes) {
    ssize_t sent = send(c->fd, request + c->sent, request_bytes - c->sent, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) {
      watch(c, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
      return;
    }
    if (sent < 0) {
      if (is_measuring) failures += 1;
      reopen(c);
      return;
    }
    c->sent += (size_t)sent;
  }
  c->state = STATUS;
  watch(c, EPOLL_CTL_MOD, EPOLLIN);
}

/* Counts the answer and sends the next request, on a new connection if the gateway closes this one. */
static void finish(struct client *c) {
  int is_complete = c->status == 200 && (expected_frames < 0 || (c->is_done && c->frames == expected_frames));
  if (is_measuring) {
    if (is_complete) requests += 1;
    else failures += 1;
  }
  if (is_complete) record(&latencies, now_us() - c->sent_at);
  c->sent = 0;
  if (c->closes) reopen(c);
  else send_request(c);
}

/* Reads a line of the event stream: content events have text, which the first one and the last ones have not. */
static void read_event(struct client *c, const char *line) {
  if (strncmp(line, "data:", 5) != 0) return;
  if (strstr(line, "[DONE]") != NULL) {
    c->is_done = 1;
    return;
  }
  const char *content = strstr(line, "\"content\":\"");
  if (content == NULL || content[11] == '"') return;
  long long now = now_us();
  if (c->frames == 0) record(&first_frames, now - c->sent_at);
  else record(&gaps, now - c->last_frame_at);
  if (is_measuring && c->frames > 0 && stall_ms > 0 && now - c->last_frame_at > stall_ms * 1000LL) stalls += 1;
  if (is_measuring) frames_received += 1;
  c->frames += 1;
  c->last_frame_at = now;
}

static void read_body(struct client *c, const char *bytes, size_t count) {
  if (expected_frames < 0) return;
  for (size_t at = 0; at < count; at += 1) {
    if (bytes[at] != '\n') {
      if (c->line_bytes < LINE_BYTES - 1) c->line[c->line_bytes++] = bytes[at];
      continue;
    }
    c->line[c->line_bytes] = 0;
    c->line_bytes = 0;
    read_event(c, c->line);
  }
}

static void read_header(struct client *c, const char *line) {
  if (strncasecmp(line, "content-length:", 15) == 0) c->left = atol(line + 15);
  else if (strncasecmp(line, "transfer-encoding:", 18) == 0) c->is_chunked = 1;
  else if (strncasecmp(line, "connection:", 11) == 0 && strcasestr(line, "close") != NULL) c->closes = 1;
}

/* A complete line of the head or of the chunk framing. Returns 1 when the answer has ended. */
static int read_line(struct client *c) {
  const char *line = c->line;
  switch (c->state) {
    case STATUS:
      c->status = strlen(line) > 9 ? atoi(line + 9) : 0;
      c->state = HEADERS;
      return 0;
    case HEADERS:
      if (line[0] != 0) return read_header(c, line), 0;
      c->state = c->is_chunked ? CHUNK_SIZE : BODY;
      return !c->is_chunked && c->left == 0;
    case CHUNK_SIZE:
      c->left = strtol(line, NULL, 16);
      c->state = c->left == 0 ? TRAILER : CHUNK;
      return 0;
    case CHUNK_END:
      c->state = CHUNK_SIZE;
      return 0;
    default:
      return line[0] == 0;
  }
}

/* Lines of the head and of the chunk framing, apart from those of the event stream, which chunks may split. */
struct framing {
  char line[LINE_BYTES];
  size_t bytes;
};

static void take(struct client *c, struct framing *framing, const char *bytes, size_t count) {
  while (count > 0) {
    if (c->state == BODY || c->state == CHUNK) {
      size_t part = c->left < 0 || (size_t)c->left > count ? count : (size_t)c->left;
      read_body(c, bytes, part);
      bytes += part;
      count -= part;
      if (c->left >= 0) c->left -= (long)part;
      if (c->left != 0) continue;
      if (c->state == BODY) return finish(c);
      c->state = CHUNK_END;
      continue;
    }
    if (c->state == CONNECTING || c->state == SENDING) return reopen(c);
    char byte = *bytes++;
    count -= 1;
    if (byte == '\r') continue;
    if (byte != '\n') {
      if (framing->bytes < LINE_BYTES - 1) framing->line[framing->bytes++] = byte;
      continue;
    }
    framing->line[framing->bytes] = 0;
    framing->bytes = 0;
    char event[LINE_BYTES];
    size_t event_bytes = c->line_bytes;
    memcpy(event, c->line, event_bytes);
    memcpy(c->line, framing->line, strlen(framing->line) + 1);
    int has_ended = read_line(c);
    memcpy(c->line, event, event_bytes);
    c->line_bytes = event_bytes;
    if (has_ended) return finish(c);
  }
}

static void read_answer(struct client *c, struct framing *framing) {
  static char bytes[256 * 1024];
  ssize_t count = recv(c->fd, bytes, sizeof bytes, 0);
  if (count < 0 && errno == EAGAIN) return;
  if (count > 0) return take(c, framing, bytes, (size_t)count);
  framing->bytes = 0;
  if (c->state == BODY && c->left < 0) {
    c->closes = 1;
    return finish(c);
  }
  if (is_measuring && c->sent > 0) failures += 1;
  c->sent = 0;
  reopen(c);
}

static int compare(const void *a, const void *b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return left < right ? -1 : left > right;
}

static void print_samples(const char *name, struct samples *samples) {
  if (samples->count == 0) return;
  qsort(samples->values, samples->count, sizeof *samples->values, compare);
  uint32_t *values = samples->values;
  size_t last = samples->count - 1;
  printf(", \"%s\": {\"count\": %zu, \"p50\": %u, \"p90\": %u, \"p99\": %u, \"p999\": %u, \"max\": %u}", name, samples->count,
         values[last / 2], values[last * 9 / 10], values[last * 99 / 100], values[last * 999 / 1000], values[last]);
}

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail(path, 2);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*size + 1);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) fail(path, 2);
  fclose(file);
  return bytes;
}

int main(int count, char **arguments) {
  if (count < 5) return fprintf(stderr, "usage: load PORT PATH CONNECTIONS SECONDS [options]\n"), 2;
  char headers[16384] = "";
  const char default_body[] = "{\"model\":\"mock\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],\"max_tokens\":16}";
  char *body = strdup(default_body);
  size_t body_bytes = strlen(body);
  for (int at = 5; at + 1 < count; at += 2) {
    const char *value = arguments[at + 1];
    if (strcmp(arguments[at], "--body") == 0) body = read_file(value, &body_bytes);
    else if (strcmp(arguments[at], "--frames") == 0) expected_frames = atoi(value);
    else if (strcmp(arguments[at], "--stall-ms") == 0) stall_ms = atoi(value);
    else if (strcmp(arguments[at], "--header") == 0) {
      size_t used = strlen(headers);
      if (used + strlen(value) + 3 > sizeof headers) return fprintf(stderr, "too many headers\n"), 2;
      sprintf(headers + used, "%s\r\n", value);
    } else return fprintf(stderr, "unknown option %s\n", arguments[at]), 2;
  }
  signal(SIGPIPE, SIG_IGN);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  int port = atoi(arguments[1]), clients = atoi(arguments[3]);
  double seconds = atof(arguments[4]);
  address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  request = malloc(body_bytes + sizeof headers + 1024);
  request_bytes = (size_t)sprintf(request,
                                  "POST %s HTTP/1.1\r\nhost: 127.0.0.1:%d\r\ncontent-type: application/json\r\n"
                                  "content-length: %zu\r\n%s\r\n",
                                  arguments[2], port, body_bytes, headers);
  memcpy(request + request_bytes, body, body_bytes);
  request_bytes += body_bytes;
  epoll_fd = epoll_create1(0);
  struct client *all = calloc((size_t)clients, sizeof *all);
  struct framing *framings = calloc((size_t)clients, sizeof *framings);
  if (all == NULL || framings == NULL) fail("calloc", 1);
  // The first fifth of the time, at least half a second, is not measured.
  double warm = seconds / 5 < 0.5 ? 0.5 : seconds / 5;
  long long measured_from = now_us() + (long long)(warm * 1e6), until = measured_from + (long long)(seconds * 1e6);
  for (int at = 0; at < clients; at += 1) open_connection(&all[at]);
  struct epoll_event events[MAX_EVENTS];
  long long began_at = measured_from, now = now_us();
  for (; now < until; now = now_us()) {
    if (!is_measuring && now >= measured_from) {
      is_measuring = 1;
      began_at = now;
    }
    int ready = epoll_wait(epoll_fd, events, MAX_EVENTS, RESOLUTION_MS);
    for (int at = 0; at < ready; at += 1) {
      struct client *c = events[at].data.ptr;
      if (c->state == CONNECTING || (c->state == SENDING && events[at].events & EPOLLOUT)) {
        int error = 0;
        socklen_t size = sizeof error;
        getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error == 0) send_request(c);
        else if (errno = error, error == EADDRNOTAVAIL) fail("connect", 3);
        else {
          if (is_measuring) failures += 1;
          usleep(1000);
          reopen(c);
        }
      } else {
        read_answer(c, &framings[c - all]);
      }
    }
  }
  double took = (double)(now_us() - began_at) / 1e6;
  printf("{\"connections\": %d, \"opened\": %lld, \"seconds\": %.3f, \"requests\": %lld, \"failures\": %lld", clients,
         connection_count, took, requests, failures);
  printf(", \"perSecond\": %.1f", (double)requests / took);
  if (expected_frames >= 0) printf(", \"frames\": %lld, \"stalls\": %lld", frames_received, stalls);
  print_samples("latency", &latencies);
  print_samples("firstFrame", &first_frames);
  print_samples("gap", &gaps);
  printf("}\n");
  return 0;
}
